import Domain
import Foundation
public import Installation
import KafkaClient
public import Logging
import Synchronization

/// Runs each stage on its own thread, restarts a failed stage and stops all stages together. May be used from
/// any thread.
public final class RoleRunner: Sendable {
  private let stop: StopSignal
  private let counters: PipelineCounters
  private let logger: Logger
  private let running = Mutex(0)
  private let failure = Mutex<PipelineError?>(nil)
  /// The size of the stack of a thread, in bytes. Parsing a policy on a planner thread takes less than 1 MiB in a debug
  /// build.
  private static let stackBytes = 8 << 20
  /// The time until a stage that has given up alone is tried again, in seconds.
  private let giveUpPause: Double

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - stop: Ends all stages. A stage that fails for good raises it.
  ///   - counters: Counts restarts.
  ///   - logger: Gets failures.
  public convenience init(stop: StopSignal, counters: PipelineCounters, logger: Logger) {
    self.init(stop: stop, counters: counters, logger: logger, giveUpPause: 30)
  }

  /// Makes a runner with a given pause.
  ///
  /// - Parameter giveUpPause: The time until a stage that has given up alone is tried again, in seconds.
  init(stop: StopSignal, counters: PipelineCounters, logger: Logger, giveUpPause: Double) {
    self.giveUpPause = giveUpPause
    self.stop = stop
    self.counters = counters
    self.logger = logger
  }

  /// The number of threads that have not ended.
  public var runningCount: Int { running.withLock { $0 } }

  /// The error of the first stage that failed for good, which stopped all stages; nil if none has.
  public var fatalError: PipelineError? { failure.withLock { $0 } }

  /// Runs one stage on a new thread until it is asked to stop.
  ///
  /// - Parameters:
  ///   - name: The name of the thread, and of the stage in logs.
  ///   - isDispensable: Whether the other stages go on without it when it fails for good, as they do without the audit. It is
  ///     tried again every 30 s.
  ///   - stage: Makes the stage and runs it. Called again, after a pause of 0.5 s to 30 s, when it returns although
  ///     nothing asked it to stop, or throws an error that `isWorthRetrying`.
  public func start(
    _ name: String, isDispensable: Bool = false, _ stage: @escaping @Sendable () throws(PipelineError) -> Void
  ) {
    running.withLock { $0 += 1 }
    let thread = Thread { [self] in
      runUntilStopped(name, isDispensable, stage)
      running.withLock { $0 -= 1 }
    }
    thread.name = "rouse-\(name)"
    thread.stackSize = Self.stackBytes
    thread.start()
  }

  private func runUntilStopped(
    _ name: String, _ isDispensable: Bool, _ stage: () throws(PipelineError) -> Void
  ) {
    var pause = 0.5
    while !stop.isAsked {
      let began = ContinuousClock.now
      do throws(PipelineError) {
        try stage()
        if stop.isAsked { return }
      } catch {
        if isDispensable, !error.isWorthRetrying {
          if counters.status.set(auditGaveUp: "\(error)") {
            logger.report(.auditGaveUp, metadata: ["role": "\(name)", "error": "\(error)"])
          }
          stop.wait(giveUpPause)
          continue
        }
        guard error.isWorthRetrying else {
          logger.report(.stageGaveUp, metadata: ["role": "\(name)", "error": "\(error)"])
          failure.withLock { $0 = $0 ?? error }
          stop.ask()
          return
        }
        if ContinuousClock.now - began > .seconds(60) { pause = 0.5 }
        counters.add(.restarts)
        logger.report(.stageRestarts, metadata: ["role": "\(name)", "error": "\(error)", "seconds": "\(pause)"])
      }
      stop.wait(pause)
      pause = min(pause * 2, 30)
    }
  }

  /// Waits until every thread has ended.
  ///
  /// - Parameter timeout: The longest wait.
  /// - Returns: Whether all ended in time.
  public func join(timeout: Duration) -> Bool {
    let deadline = ContinuousClock.now + timeout
    while runningCount > 0 {
      if ContinuousClock.now > deadline { return false }
      Thread.sleep(forTimeInterval: 0.02)
    }
    return true
  }
}
