import Auditing
import Domain
import Foundation
import JSON
import Logging
import Serving
import Synchronization

/// Follows the store, and passes new decisions on to every client that waits for them. It reads on one thread of its own, whatever the number
/// of clients is, and only while there are any. May be used from any thread.
final class DecisionTailer: Sendable {
  private struct State {
    var tails: [DecisionTail] = []
    var hasEnded = false
  }

  private let storePath: String
  private let logger: Logger
  private let state = Mutex(State())
  /// Signalled for each new client, and at the end.
  private let wake = DispatchSemaphore(value: 0)

  /// The most clients at a time.
  /// - Beyond: a request is refused with 503.
  static let tailsMax = 64
  /// The most clients at a time with one key, or one subject of tokens.
  /// - Beyond: a request is refused with 429.
  static let tailsOfKeyMax = 16
  /// The time between two looks at the store.
  private static let pollMilliseconds = 500
  /// The decisions that are read at a time.
  private static let stepMax = 512
  /// The steps of one turn.
  /// - Beyond: clients that catch up are served in between.
  private static let stepsMax = 64
  /// The pages that are read at a time for a client that wants only the newest decisions.
  /// - Beyond: older decisions are left out, and the client is told.
  private static let newestPagesMax = 8

  /// The place behind which every decision is stored.
  static let beginning = DecisionPlace(page: 0, line: -1, id: "")

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - storePath: The path of the audit store.
  ///   - logger: Gets failures.
  init(storePath: String, logger: Logger) {
    self.storePath = storePath
    self.logger = logger
    let thread = Thread { [self] in follow() }
    thread.name = "console-tail"
    thread.start()
  }

  /// Begins to follow the decisions for a client.
  ///
  /// - Parameters:
  ///   - filter: The decisions that the client wants.
  ///   - newest: The most decisions that the client wants at a time, the newest ones; nil for every decision.
  ///   - place: The place of the last decision that the client has; nil to begin with what is stored from now on.
  ///   - key: The key or the subject of the client; nil if the console asks for none.
  /// - Returns: The body of the answer.
  /// - Throws: `Problem` if there are too many clients, of the key or at all, or at the end.
  func start(
    _ filter: DecisionFilter, newest: Int?, after place: DecisionPlace?, key: String?
  ) throws(Problem) -> HTTPBodyStream {
    let tail = DecisionTail(filter, newest: newest, after: place, key: key)
    let (isTaken, ofKey) = state.withLock { state in
      state.tails.removeAll(where: \.hasEnded)
      let ofKey = key == nil ? 0 : state.tails.count { $0.key == key }
      guard !state.hasEnded, state.tails.count < Self.tailsMax, ofKey < Self.tailsOfKeyMax else {
        return (false, ofKey)
      }
      state.tails.append(tail)
      return (true, ofKey)
    }
    guard ofKey < Self.tailsOfKeyMax else {
      throw Problem(
        .tooManyRecords,
        "\(Self.tailsOfKeyMax) clients with this key or token follow the decisions; try again when one has gone",
        retryAfterSeconds: 10)
    }
    guard isTaken else {
      throw Problem(
        .unavailable, "\(Self.tailsMax) clients follow the decisions; try again when one has gone",
        retryAfterSeconds: 10)
    }
    wake.signal()
    return HTTPBodyStream(next: { tail.next($0) }, cancel: { tail.cancel() })
  }

  /// Ends the thread, and all answers.
  func end() {
    let tails = state.withLock { state in
      state.hasEnded = true
      return state.tails
    }
    for tail in tails { tail.end("the console ends; come back") }
    wake.signal()
  }

  /// The number of clients.
  var count: Int { state.withLock { state in state.tails.count { !$0.hasEnded } } }

  // MARK: The thread

  private func follow() {
    var store: AuditStore?
    var place: DecisionPlace?
    var file = FileWatch(path: storePath)
    while true {
      let (tails, hasEnded) = state.withLock { state in
        state.tails.removeAll(where: \.hasEnded)
        return (state.tails, state.hasEnded)
      }
      if hasEnded { return }
      guard !tails.isEmpty else {
        (store, place) = (nil, nil)
        wake.wait()
        continue
      }
      if store != nil, file.isReplaced() {
        for tail in tails { tail.end("the audit store is another one; come back") }
        (store, place) = (nil, nil)
        continue
      }
      do throws(AuditError) {
        if store == nil { file = FileWatch(path: storePath) }
        if store == nil { store = try AuditStore.open(path: storePath, options: AuditOptions(access: .read)) }
        guard let opened = store else { continue }
        place = try turn(opened, from: place, tails)
      } catch {
        logger.warning("the decisions cannot be followed", metadata: ["error": "\(error)"])
        for tail in tails { tail.end("the audit store cannot be read; come back") }
        (store, place) = (nil, nil)
      }
      _ = wake.wait(timeout: .now() + .milliseconds(Self.pollMilliseconds))
    }
  }

  /// Passes on what was stored since the turn before.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - known: The place up to which the turn before has read; nil in the first turn.
  ///   - tails: The clients.
  /// - Returns: The place up to which everything was passed on.
  private func turn(
    _ store: AuditStore, from known: DecisionPlace?, _ tails: [DecisionTail]
  ) throws(AuditError) -> DecisionPlace {
    let (complete, partial) = (tails.filter { $0.newest == nil }, tails.filter { $0.newest != nil })
    let newest = try store.newestPlace() ?? Self.beginning
    for tail in partial { try passNewest(to: tail, store, newest) }
    // Whoever wants everything makes the thread read everything; for the others the newest pages are enough.
    guard !complete.isEmpty else { return newest }
    return try passAll(store, from: known ?? newest, complete)
  }

  /// Passes on the newest decisions that were stored since the turn before to a client that does not want them all.
  private func passNewest(to tail: DecisionTail, _ store: AuditStore, _ newest: DecisionPlace) throws(AuditError) {
    let before: DecisionPlace
    switch tail.phase {
    case .catchingUp(let place) where place.page <= newest.page: before = place
    case .live(let place) where place.page <= newest.page: before = place
    // A new client, or one with a place of another store, such as the one that was here before.
    case .new, .catchingUp, .live: return tail.begin(behind: newest)
    }
    guard tail.hasRoom, (before.page, before.line) < (newest.page, newest.line) else {
      return tail.tick(at: before, now: .now)
    }
    let part = try store.decisions(
      tail.filter, order: .newest, limit: tail.newest ?? 1, pagesMax: Self.newestPagesMax)
    let new = part.decisions.prefix { (before.page, before.line) < ($0.place.page, $0.place.line) }
    if new.count == part.decisions.count, !part.isLast, let end = part.end, end.page >= before.page { tail.omit() }
    for placed in new.reversed() { tail.offer(Self.event(placed), at: placed.place) }
    // More may have been stored since the store was asked for its newest place.
    let last = new.first?.place ?? newest
    let end = (last.page, last.line) < (newest.page, newest.line) ? newest : last
    tail.set(.live(end))
    tail.tick(at: end, now: .now)
  }

  /// Passes on everything that was stored since the turn before.
  private func passAll(
    _ store: AuditStore, from known: DecisionPlace, _ tails: [DecisionTail]
  ) throws(AuditError) -> DecisionPlace {
    var place = known
    for _ in 0..<Self.stepsMax {
      let part = try store.decisions(DecisionFilter(), order: .oldest, after: place, limit: Self.stepMax, pagesMax: 8)
      pass(part, to: tails.filter { if case .live = $0.phase { true } else { false } })
      place = part.end ?? place
      if part.isLast { break }
    }
    for tail in tails {
      switch tail.phase {
      case .new: tail.begin(behind: place)
      case .catchingUp(let before): try catchUp(tail, store, from: before, place)
      case .live: tail.tick(at: place, now: .now)
      }
    }
    return place
  }

  /// Passes on stored decisions to a client that came back.
  private func catchUp(
    _ tail: DecisionTail, _ store: AuditStore, from before: DecisionPlace, _ end: DecisionPlace
  ) throws(AuditError) {
    guard before.page <= end.page else {
      // The place is one of another store, such as the one that was here before.
      return tail.begin(behind: end)
    }
    guard tail.hasRoom else { return }
    let part = try store.decisions(tail.filter, order: .oldest, after: before, limit: Self.stepMax)
    pass(part, to: [tail])
    let now = part.end ?? before
    tail.set(part.isLast ? .live(now) : .catchingUp(now))
  }

  private func pass(_ part: DecisionPart, to tails: [DecisionTail]) {
    for placed in part.decisions {
      var event: [UInt8]?
      for tail in tails where tail.filter.includes(placed.decision) {
        let bytes = event ?? Self.event(placed)
        event = bytes
        tail.offer(bytes, at: placed.place)
      }
    }
  }

  /// Returns a decision as a Server-Sent Event.
  private static func event(_ placed: DecisionPart.PlacedDecision) -> [UInt8] {
    Array("id: \(PageCursor.text(placed.place))\nevent: decision\ndata: ".utf8)
      + PrintableJSON.escape(Array(AuditJSON.line(.decision(placed.decision)).utf8)) + [10, 10]
  }
}
