import Auditing
import Domain
import Serving
import Synchronization

/// One client that follows the decisions. May be used from any thread.
///
///     new ──► catchingUp ──end of the store──► live ──► ended
///       └──── without a place ────────────────►
///
/// Events that the client has not taken yet wait in a queue with a bound. A client that is too slow is told, and its connection ends; it
/// loses nothing, because it can come back with the id of the last event that it has.
final class DecisionTail: Sendable {
  /// The states of a tail.
  enum TailPhase: Sendable {
    /// The client begins with what is stored from now on.
    case new
    /// The client reads what was stored behind a place.
    case catchingUp(DecisionPlace)
    /// The client gets what is stored now, behind a place.
    case live(DecisionPlace)
  }

  private struct State {
    var phase: TailPhase
    var queue: [UInt8] = []
    var waiter: (@Sendable (HTTPBodyStream.Piece) -> Void)?
    var hasEnded = false
    var lastWritten = ContinuousClock.now
  }

  /// The decisions that the client wants.
  let filter: DecisionFilter
  /// The key or the subject of the client; nil if the console asks for none.
  let key: String?
  /// The most decisions that the client wants at a time, the newest ones; nil for every decision.
  let newest: Int?
  private let began = ContinuousClock.now
  private let state: Mutex<State>

  /// The bytes of the events that wait for a client.
  /// - Beyond: the connection ends; the client comes back and continues where it was.
  static let queueBytesMax = 1 << 20
  /// The time after which a client has to come back, so that a key that was revoked does not go on.
  /// - Beyond: the connection ends; the client comes back and continues where it was.
  static let timeMax = Duration.seconds(900)
  /// The time of silence.
  /// - Beyond: the client gets a sign of life, with the id of the place up to which nothing is missing.
  static let silenceMax = Duration.seconds(15)

  /// Begins.
  ///
  /// - Parameters:
  ///   - filter: The decisions that the client wants.
  ///   - newest: The most decisions that the client wants at a time, the newest ones; nil for every decision.
  ///   - place: The place of the last decision that the client has; nil to begin with what is stored from now on.
  ///   - key: The key or the subject of the client; nil if the console asks for none.
  init(_ filter: DecisionFilter, newest: Int?, after place: DecisionPlace?, key: String? = nil) {
    self.key = key
    self.filter = filter
    self.newest = newest
    state = Mutex(State(phase: place.map { .catchingUp($0) } ?? .new, queue: Array("retry: 2000\n\n".utf8)))
  }

  /// The state.
  var phase: TailPhase { state.withLock { $0.phase } }
  /// Whether nobody waits for events any more.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }
  /// Whether so little waits for the client that stored decisions can be added.
  var hasRoom: Bool { state.withLock { !$0.hasEnded && $0.queue.count < Self.queueBytesMax / 2 } }

  /// Sets the state, unless the tail has ended.
  func set(_ phase: TailPhase) { state.withLock { $0.phase = phase } }

  /// Begins with what is stored behind a place, and tells the client that place.
  func begin(behind place: DecisionPlace) {
    set(.live(place))
    write(Array(": new decisions follow\nid: \(PageCursor.text(place))\n\n".utf8))
  }

  /// Adds an event, unless the client has it.
  ///
  /// - Parameters:
  ///   - event: The event as the stream has it.
  ///   - place: The place of its decision.
  func offer(_ event: [UInt8], at place: DecisionPlace) {
    let isNew = state.withLock { state in
      switch state.phase {
      case .new: return false
      case .catchingUp(let before), .live(let before):
        return (before.page, before.line) < (place.page, place.line)
      }
    }
    if isNew { write(event) }
  }

  /// Tells the client that decisions were left out, because more were stored than it wants at a time.
  func omit() { write(Array("event: omitted\ndata: {}\n\n".utf8)) }

  /// Gives a sign of life after some silence, with the id of the place up to which nothing is missing; and ends a tail whose time is over.
  func tick(at place: DecisionPlace, now: ContinuousClock.Instant) {
    let silence = state.withLock { now - $0.lastWritten }
    if silence >= Self.silenceMax { write(Array(": nothing new\nid: \(PageCursor.text(place))\n\n".utf8)) }
    if now - began >= Self.timeMax { end("this connection has lasted long enough; come back") }
  }

  /// Ends the tail, with a comment for the client.
  func end(_ words: String) {
    write(Array(": \(words)\n\n".utf8), isLast: true)
  }

  /// Ends the tail of a client that has gone.
  func cancel() {
    state.withLock { state in
      state.hasEnded = true
      state.queue = []
      state.waiter = nil
    }
  }

  /// Passes on what waits, now or as soon as there is something.
  func next(_ give: @escaping @Sendable (HTTPBodyStream.Piece) -> Void) {
    let piece: HTTPBodyStream.Piece? = state.withLock { state in
      if !state.queue.isEmpty {
        defer { state.queue = [] }
        return .bytes(state.queue)
      }
      if state.hasEnded { return .end }
      state.waiter = give
      return nil
    }
    if let piece { give(piece) }
  }

  private func write(_ bytes: [UInt8], isLast: Bool = false) {
    let waiting: (give: @Sendable (HTTPBodyStream.Piece) -> Void, bytes: [UInt8])? = state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.lastWritten = .now
      state.queue += bytes
      state.hasEnded = isLast
      if state.queue.count > Self.queueBytesMax {
        state.queue += ": this client is too slow; come back with the id of the last event\n\n".utf8
        state.hasEnded = true
      }
      guard let give = state.waiter else { return nil }
      defer {
        state.waiter = nil
        state.queue = []
      }
      return (give, state.queue)
    }
    if let waiting { waiting.give(.bytes(waiting.bytes)) }
  }
}
