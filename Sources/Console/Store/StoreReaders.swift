import Foundation
import Serving
import Synchronization

/// The threads that answer requests, each with a connection to the audit store. May be used from any thread.
///
/// A question may read the disk for long, so none is answered on an event loop. One client has three quarters of the places to wait at
/// most, and of the threads, so that his questions do not keep all others waiting. Fewer than four threads are not shared out.
final class StoreReaders: Sendable {
  /// A request, to be answered by a reader.
  typealias Work = @Sendable (ConsoleContext) -> Void

  private struct Question {
    /// The one who asks; nil for the next part of an answer under way.
    var client: String?
    var work: Work
  }

  private struct State {
    var waiting: [Question] = []
    /// The clients whose questions are being answered, each as often as it has a thread.
    var answered: [String] = []
    var hasEnded = false

    /// Takes the first question whose client has a thread left.
    /// - Parameter threads: The number of threads that one client may have.
    mutating func next(ofClientMax threads: Int) -> Question? {
      let place = waiting.firstIndex { question in
        guard let client = question.client, !hasEnded else { return true }
        return answered.count { $0 == client } < threads
      }
      guard let place else { return nil }
      let question = waiting.remove(at: place)
      if let client = question.client { answered.append(client) }
      return question
    }

    /// Notes that a question is answered.
    /// - Returns: Whether a thread is to look for another one, which may have waited for this, or is to end.
    mutating func end(_ question: Question) -> Bool {
      if let client = question.client, let place = answered.firstIndex(of: client) { answered.remove(at: place) }
      return hasEnded || !waiting.isEmpty
    }
  }

  private let state = Mutex(State())
  /// Signalled once for each request, whenever one ends while others wait, and at the end once for each thread.
  private let given = DispatchSemaphore(value: 0)
  /// The exports under way.
  let exports = Atomic<Int>(0)
  private let settings: ConsoleSettings
  private let makeContext: @Sendable (StoreReaders) -> ConsoleContext
  private let turn: @Sendable (ConsoleContext) -> Void
  private let threads: Int

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - threads: The number of threads; nil for that of the settings.
  ///   - makeContext: Makes the context of a thread, on that thread.
  ///   - turn: Called about once a second on one of the threads, also while nobody asks, and once more at its end.
  init(
    _ settings: ConsoleSettings, threads: Int? = nil, makeContext: @escaping @Sendable (StoreReaders) -> ConsoleContext,
    turn: @escaping @Sendable (ConsoleContext) -> Void
  ) {
    self.settings = settings
    self.threads = threads ?? settings.readers
    self.makeContext = makeContext
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
  ///   - client: The key or the subject of the one who asks, else his address.
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
      guard ofClient < Self.share(of: waitingMax) else { return false }
      state.waiting.append(Question(client: client, work: work))
      return true
    }
    if isTaken { given.signal() }
    return isTaken
  }

  /// The part of a number of threads or places that one client may have.
  private static func share(of number: Int) -> Int { number - number / 4 }

  /// Ends the threads when they have answered what they have.
  func end() {
    state.withLock { $0.hasEnded = true }
    for _ in 0..<threads { given.signal() }
  }

  /// Answers requests until the end. The first thread also takes the turns.
  private func answer(_ number: Int) {
    let context = makeContext(self)
    var nextTurn = DispatchTime.now()
    while true {
      if number == 0, .now() >= nextTurn {
        turn(context)
        nextTurn = .now() + 1
      }
      let isGiven = given.wait(timeout: number == 0 ? nextTurn : .distantFuture) == .success
      let (question, hasEnded) = state.withLock { state in
        (isGiven ? state.next(ofClientMax: Self.share(of: threads)) : nil, state.hasEnded)
      }
      if let question {
        question.work(context)
        if state.withLock({ $0.end(question) }) { given.signal() }
      } else if hasEnded {
        if number == 0 { turn(context) }
        return
      }
    }
  }
}
