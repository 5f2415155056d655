import Foundation
import Synchronization

/// Asks threads to come to an end. They look at it between two pieces of work; nothing is interrupted.
public final class StopSignal: Sendable {
  private let asked = Atomic<Bool>(false)

  public init() {}

  public var isAsked: Bool { asked.load(ordering: .relaxed) }
  public func ask() { asked.store(true, ordering: .relaxed) }

  /// Waits, but not beyond being asked to stop.
  func wait(_ seconds: Double) {
    let end = Date().addingTimeInterval(seconds)
    while !isAsked, Date() < end { Thread.sleep(forTimeInterval: min(0.05, seconds)) }
  }
}
