import Foundation
import Synchronization

/// Asks threads to stop. They check it between two pieces of work; nothing is interrupted. May be used from any
/// thread and from a signal handler.
public final class StopSignal: Sendable {
  private let asked = Atomic<Bool>(false)

  /// Creates a signal that is not raised.
  public init() {}

  /// Whether the threads are to end.
  public var isAsked: Bool { asked.load(ordering: .relaxed) }
  /// Asks the threads to end.
  public func ask() { asked.store(true, ordering: .relaxed) }

  /// Waits for a number of seconds, or until the threads are asked to end. It looks every 50 ms.
  ///
  /// - Parameter seconds: The longest wait.
  public func wait(_ seconds: Double) {
    let end = Date().addingTimeInterval(seconds)
    while !isAsked, Date() < end { Thread.sleep(forTimeInterval: min(0.05, seconds)) }
  }
}
