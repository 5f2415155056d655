import Foundation
import Synchronization

/// A thread of a benchmark, which works until it is asked to end. It keeps its failure for the thread that waits for it.
final class BenchmarkThread: Sendable {
  private let name: String
  private let state = Mutex(State())

  private struct State {
    var isAsked = false
    var isDone = false
    var error: (any Error)?
  }

  /// - Parameter name: the name of the thread, for tools that list threads.
  init(name: String) { self.name = name }

  /// Whether the work is asked to end.
  var isAsked: Bool { state.withLock { $0.isAsked } }

  /// Starts the thread. Call it once.
  /// - Parameter work: the work, which returns soon after ``isAsked`` holds.
  func start(_ work: @escaping @Sendable () throws -> Void) {
    let thread = Thread { [self] in
      do { try work() } catch { state.withLock { $0.error = error } }
      state.withLock { $0.isDone = true }
    }
    thread.name = name
    thread.start()
  }

  /// Checks that the work has not failed.
  /// - Throws: the error of the work, when it has failed.
  func check() throws { if let error = state.withLock({ $0.error }) { throw error } }

  /// Asks the work to end, and waits until it has.
  /// - Throws: the error of the work, when it failed.
  func end() throws {
    state.withLock { $0.isAsked = true }
    while !state.withLock({ $0.isDone }) { Thread.sleep(forTimeInterval: 0.01) }
    try check()
  }
}
