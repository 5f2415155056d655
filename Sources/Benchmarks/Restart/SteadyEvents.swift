import Foundation
import Synchronization

/// Writes events into the log at a steady rate, on a separate thread.
final class SteadyEvents: Sendable {
  private let perSecond: Int
  private let state = Mutex(State())
  private let makeFeeder: @Sendable () throws -> LoadFeeder

  private struct State {
    var isAsked = false
    var isDone = false
    var error: BenchmarkError?
  }

  /// - Parameters:
  ///   - perSecond: the events of a second.
  ///   - makeFeeder: makes the feeder, on the thread that uses it.
  init(perSecond: Int, makeFeeder: @escaping @Sendable () throws -> LoadFeeder) {
    self.perSecond = perSecond
    self.makeFeeder = makeFeeder
  }

  /// Starts the thread.
  func start() {
    let thread = Thread { [self] in
      do { try send() } catch { state.withLock { $0.error = BenchmarkError("\(error)") } }
      state.withLock { $0.isDone = true }
    }
    thread.name = "bench-events"
    thread.start()
  }

  /// - Throws: ``BenchmarkError`` when an event could not be written.
  func check() throws(BenchmarkError) { if let error = state.withLock({ $0.error }) { throw error } }

  /// Ends the thread.
  /// - Throws: ``BenchmarkError`` when an event could not be written.
  func end() throws(BenchmarkError) {
    state.withLock { $0.isAsked = true }
    while !state.withLock({ $0.isDone }) { Thread.sleep(forTimeInterval: 0.01) }
    try check()
  }

  private func send() throws {
    let feeder = try makeFeeder()
    let start = MonotonicClock.seconds()
    var number = 0
    while !state.withLock({ $0.isAsked }) {
      _ = try feeder.feedEvents(number..<number + 1)
      number += 1
      Thread.sleep(forTimeInterval: max(0, start + Double(number) / Double(perSecond) - MonotonicClock.seconds()))
    }
  }
}
