import Foundation
import Serving
import Synchronization

/// The threads that answer requests, each with a connection to the audit store. May be used from any thread.
///
/// A question may read the disk for long, so none is answered on an event loop.
final class StoreReaders: Sendable {
  /// A request, to be answered by a reader.
  typealias Work = @Sendable (ConsoleDesk) -> Void

  private struct State {
    var waiting: [(client: String?, work: Work)] = []
    var hasEnded = false
  }

  private let state = Mutex(State())
  /// Signalled once for each request, and at the end once for each thread.
  private let given = DispatchSemaphore(value: 0)
  /// The exports under way.
  let exports = Atomic<Int>(0)
  private let settings: ConsoleSettings
  private let makeDesk: @Sendable (StoreReaders) -> ConsoleDesk
  private let turn: @Sendable (ConsoleDesk) -> Void
  private let threads: Int

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - threads: The number of threads; nil for that of the settings.
  ///   - makeDesk: Makes the desk of a thread, on that thread.
  ///   - turn: Called about once a second on one of the threads, also while nobody asks, and once more at its end.
  init(
    _ settings: ConsoleSettings, threads: Int? = nil, makeDesk: @escaping @Sendable (StoreReaders) -> ConsoleDesk,
    turn: @escaping @Sendable (ConsoleDesk) -> Void
  ) {
    self.settings = settings
    self.threads = threads ?? settings.readers
    self.makeDesk = makeDesk
    self.turn = turn
    for number in 0..<self.threads {
      let thread = Thread { [self] in answer(number) }
      thread.name = "console-\(number)"
      thread.start()
    }
  }

  /// Gives a request to the next reader that is free.
  ///
  /// - Parameters:
  ///   - client: The key or the subject of the one who asks, else his address. One client has three quarters of the places at most.
  ///   - work: Called once, on the thread of a reader.
  /// - Throws: `Problem` if too many requests wait, of the client or at all, or if the readers have ended.
  func submit(of client: String, _ work: @escaping Work) throws(Problem) {
    guard take(client, work, waitingMax: settings.waitingMax) else {
      throw Problem(.unavailable, "too many questions are being answered; try again", retryAfterSeconds: 1)
    }
  }

  /// Gives the next part of an answer under way to the next reader that is free. The number of such answers is bounded elsewhere.
  ///
  /// - Parameter work: Called once, on the thread of a reader.
  /// - Returns: Whether it will be called; false if the readers have ended.
  func resume(_ work: @escaping Work) -> Bool { take(nil, work, waitingMax: .max) }

  private func take(_ client: String?, _ work: @escaping Work, waitingMax: Int) -> Bool {
    let isTaken = state.withLock { state in
      guard !state.hasEnded, state.waiting.count < waitingMax else { return false }
      let ofClient = client == nil ? 0 : state.waiting.count { $0.client == client }
      guard ofClient < waitingMax - waitingMax / 4 else { return false }
      state.waiting.append((client, work))
      return true
    }
    if isTaken { given.signal() }
    return isTaken
  }

  /// Ends the threads when they have answered what they have.
  func end() {
    state.withLock { $0.hasEnded = true }
    for _ in 0..<threads { given.signal() }
  }

  /// Answers requests until the end. The first thread also takes the turns.
  private func answer(_ number: Int) {
    let desk = makeDesk(self)
    var nextTurn = DispatchTime.now()
    while true {
      if number == 0, .now() >= nextTurn {
        turn(desk)
        nextTurn = .now() + 1
      }
      let isGiven = given.wait(timeout: number == 0 ? nextTurn : .distantFuture) == .success
      let (work, hasEnded) = state.withLock { state in
        (isGiven && !state.waiting.isEmpty ? state.waiting.removeFirst().work : nil, state.hasEnded)
      }
      if let work {
        work(desk)
      } else if hasEnded {
        if number == 0 { turn(desk) }
        return
      }
    }
  }
}
