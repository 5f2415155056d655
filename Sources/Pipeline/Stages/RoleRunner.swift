import Domain
import Foundation
import KafkaClient
public import Logging
import Synchronization

/// The parts of the pipeline that a process can take.
public enum Role: String, CaseIterable, Sendable {
  case intake, planner, audit
}

/// Runs roles on threads of their own, starts a stage anew when it failed, and ends them all together.
public final class RoleRunner: Sendable {
  private let stop: StopSignal
  private let counters: PipelineCounters
  private let logger: Logger
  private let running = Mutex(0)
  private let failure = Mutex<PipelineError?>(nil)
  /// Planner threads parse policies, which takes less than 1 MiB of stack in a debug build.
  private static let stackBytes = 8 << 20

  public init(stop: StopSignal, counters: PipelineCounters, logger: Logger) {
    self.stop = stop
    self.counters = counters
    self.logger = logger
  }

  /// Threads that have not ended.
  public var runningCount: Int { running.withLock { $0 } }

  /// Why everything was stopped, if a stage gave up.
  public var fatalError: PipelineError? { failure.withLock { $0 } }

  /// Runs one stage until it ends by itself. `make` is called for every start, on the new thread.
  public func start(_ name: String, _ make: @escaping @Sendable () throws(PipelineError) -> Void) {
    running.withLock { $0 += 1 }
    let thread = Thread { [self] in
      runUntilStopped(name, make)
      running.withLock { $0 -= 1 }
    }
    thread.name = "rouse-\(name)"
    thread.stackSize = Self.stackBytes
    thread.start()
  }

  private func runUntilStopped(_ name: String, _ stage: () throws(PipelineError) -> Void) {
    var pause = 0.5
    while !stop.isAsked {
      let began = ContinuousClock.now
      do throws(PipelineError) {
        try stage()
        if stop.isAsked { return }
      } catch {
        guard error.isWorthRetrying else {
          logger.critical("gave up", metadata: ["role": "\(name)", "error": "\(error)"])
          failure.withLock { $0 = $0 ?? error }
          stop.ask()
          return
        }
        if ContinuousClock.now - began > .seconds(60) { pause = 0.5 }
        counters.add(.restarts)
        logger.error("starting anew", metadata: ["role": "\(name)", "error": "\(error)", "seconds": "\(pause)"])
      }
      stop.wait(pause)
      pause = min(pause * 2, 30)
    }
  }

  /// Waits until every thread has ended.
  /// - Returns: whether they did in time.
  public func join(timeout: Duration) -> Bool {
    let deadline = ContinuousClock.now + timeout
    while runningCount > 0 {
      if ContinuousClock.now > deadline { return false }
      Thread.sleep(forTimeInterval: 0.02)
    }
    return true
  }
}
