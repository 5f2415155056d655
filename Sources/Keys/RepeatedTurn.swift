import Foundation

/// A thread that does the same thing about once a second until the end.
public final class RepeatedTurn: Sendable {
  /// The time between two turns.
  private static let interval = DispatchTimeInterval.seconds(1)
  private let ended = DispatchSemaphore(value: 0)

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: The name of the thread.
  ///   - beginsAtOnce: Whether the first turn comes at once, and not after a second.
  ///   - turn: Called on that thread.
  public init(_ name: String, beginsAtOnce: Bool = false, _ turn: @escaping @Sendable () -> Void) {
    let thread = Thread { [ended] in
      if beginsAtOnce { turn() }
      while ended.wait(timeout: .now() + Self.interval) == .timedOut { turn() }
    }
    thread.name = name
    thread.start()
  }

  /// Ends the thread after the turn that it is at. Call it once.
  public func end() { ended.signal() }
}
