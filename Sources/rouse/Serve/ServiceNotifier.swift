import Foundation
import Installation
import Logging

/// Tells a service manager such as systemd how the process is: that it is ready, works, ends, or hangs. Without a manager, which
/// is one that sets `NOTIFY_SOCKET`, it does nothing.
///
/// A thread of its own looks at the probes once a second, so neither planners nor the listener wait for the manager. A manager that
/// cannot be reached is logged once; the process goes on. When the process is killed, the manager sees that itself.
final class ServiceNotifier: Sendable {
  /// Says when the thread is to end. The stop signal of the process only begins its last phase.
  private let isOver = StopSignal()
  /// Says that the thread has sent its last message.
  private let hasEnded = StopSignal()

  /// The longest wait for the last message, in seconds: a manager that hangs must not keep the process from ending.
  private static let lastSeconds = 1.0

  private init() {}

  /// Starts to tell the service manager that the environment names.
  ///
  /// - Parameters:
  ///   - environment: The variables of the process: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
  ///   - pages: The probes of the process.
  ///   - stop: Says whether the process was asked to end.
  ///   - logger: Gets a warning if the manager cannot be reached.
  /// - Returns: The notifier; nil without a manager, or with one whose address cannot be used.
  static func start(
    environment: [String: String], _ pages: MachinePages, _ stop: StopSignal, _ logger: Logger
  ) -> ServiceNotifier? {
    guard let address = environment["NOTIFY_SOCKET"], !address.isEmpty else { return nil }
    let socket: NotifySocket
    do throws(NotifySocket.Refusal) { socket = try NotifySocket(address: address) } catch {
      warn(error, logger)
      return nil
    }
    let notifier = ServiceNotifier()
    let notices = ServiceNotices(watchdog: watchdog(environment, processID: getpid()))
    let thread = Thread { notifier.run(socket, notices, pages, stop, logger) }
    thread.name = "rouse-notify"
    thread.start()
    return notifier
  }

  /// Returns the time after which the manager ends a process that does not feed its watchdog; nil if it watches no process, or
  /// another one.
  ///
  /// - Parameters:
  ///   - environment: The variables of the process.
  ///   - processID: The id of the process.
  static func watchdog(_ environment: [String: String], processID: Int32) -> Duration? {
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else { return nil }
    guard environment["WATCHDOG_PID"].map({ $0 == "\(processID)" }) ?? true else { return nil }
    return .microseconds(microseconds)
  }

  /// Ends the messages, after one that says that the process ends.
  func end() {
    isOver.ask()
    hasEnded.wait(Self.lastSeconds)
  }

  private func run(
    _ socket: NotifySocket, _ notices: ServiceNotices, _ pages: MachinePages, _ stop: StopSignal, _ logger: Logger
  ) {
    var notices = notices
    var isWarned = false
    let seconds = notices.interval / .seconds(1)
    var isLast = false
    while !isLast {
      isLast = isOver.isAsked
      var state = pages.processState
      // An error ends the process without a stop signal.
      if isLast { state.isEnding = true }
      let lines = notices.next(state, at: .now)
      do throws(NotifySocket.Refusal) {
        if !lines.isEmpty { try socket.send(lines) }
      } catch {
        if !isWarned { Self.warn(error, logger) }
        isWarned = true
      }
      if !isLast { wait(seconds, stop) }
    }
    hasEnded.ask()
  }

  /// Waits for a number of seconds, or until the process is asked to end, or has come to its end.
  private func wait(_ seconds: Double, _ stop: StopSignal) {
    let (slice, wasAsked) = (0.05, stop.isAsked)
    var left = seconds
    while left > 0, !isOver.isAsked, stop.isAsked == wasAsked {
      isOver.wait(min(slice, left))
      left -= slice
    }
  }

  private static func warn(_ error: NotifySocket.Refusal, _ logger: Logger) {
    logger.warning(
      "the service manager cannot be told how this process is; it may end the process when its time for a start is over",
      metadata: ["NOTIFY_SOCKET": "\(error)"])
  }
}
