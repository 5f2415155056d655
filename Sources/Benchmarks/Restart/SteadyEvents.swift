import Foundation

/// Writes events into the log at a steady rate, on a separate thread.
final class SteadyEvents: Sendable {
  private let perSecond: Int
  private let thread = BenchmarkThread(name: "bench-events")
  private let makeFeeder: @Sendable () throws -> LoadFeeder

  /// - Parameters:
  ///   - perSecond: the events of a second.
  ///   - makeFeeder: makes the feeder, on the thread that uses it.
  init(perSecond: Int, makeFeeder: @escaping @Sendable () throws -> LoadFeeder) {
    self.perSecond = perSecond
    self.makeFeeder = makeFeeder
  }

  /// Starts the thread.
  func start() { thread.start { [self] in try send() } }

  /// Checks that every event so far was written.
  /// - Throws: the feeder's error when an event could not be written.
  func check() throws { try thread.check() }

  /// Ends the thread.
  /// - Throws: the feeder's error when an event could not be written.
  func end() throws { try thread.end() }

  private func send() throws {
    let feeder = try makeFeeder()
    let start = MonotonicClock.seconds()
    var number = 0
    while !thread.isAsked {
      _ = try feeder.feedEvents(number..<number + 1)
      number += 1
      Thread.sleep(forTimeInterval: max(0, start + Double(number) / Double(perSecond) - MonotonicClock.seconds()))
    }
  }
}
