import Foundation

/// A thread that does the same thing about once a second until the end.
final class RepeatedTurn: Sendable {
  /// The time between two turns.
  private static let interval = DispatchTimeInterval.seconds(1)
  private let ended = DispatchSemaphore(value: 0)

  /// Starts the thread. The first turn comes after a second.
  ///
  /// - Parameters:
  ///   - name: The name of the thread.
  ///   - turn: Called on that thread.
  init(_ name: String, _ turn: @escaping @Sendable () -> Void) {
    let thread = Thread { [ended] in
      while ended.wait(timeout: .now() + Self.interval) == .timedOut { turn() }
    }
    thread.name = name
    thread.start()
  }

  /// Ends the thread after the turn that it is at. Call it once.
  func end() { ended.signal() }
}
