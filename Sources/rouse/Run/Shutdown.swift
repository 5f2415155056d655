import Foundation
import Installation
import Synchronization

/// Handles SIGTERM and SIGINT: the first signal asks the stages to end, the second ends the process at once.
enum Shutdown {
  private static let stop = StopSignal()
  private static let count = Atomic<Int>(0)

  /// Installs the handlers.
  ///
  /// A signal handler may only touch atomics that exist already, so both are created before.
  /// - Returns: the stop signal that the handlers raise.
  static func onSignal() -> StopSignal {
    _ = count.load(ordering: .relaxed)
    let stop = stop
    for number in [SIGTERM, SIGINT] {
      _ = signal(number) { number in
        if Shutdown.count.add(1, ordering: .relaxed).oldValue > 0 { _exit(128 + number) }
        Shutdown.stop.ask()
      }
    }
    return stop
  }
}
