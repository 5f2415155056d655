import Domain
import Policies

/// All that Live Activities must know of a subject: the fields that their templates read, each with the value in the newest event that said it,
/// and when an event last started or ended activities. An event changes only the fields that it carries, and none that a newer event has
/// said.
struct KnownContent: Equatable {
  /// The largest size of all texts of a subject's fields that are kept, in UTF-8 bytes. No push of the platform has room for more.
  /// - Beyond: a text that has no room is sent with its own event, and counts as null after that.
  static let textBytesMax = 4096

  /// A field.
  struct KnownField: Equatable {
    var path: Identifier
    var value: FieldValue
    /// The time of the event that said the value.
    var time: Timestamp
  }

  /// The newest events by whose rules activities of a kind start and end. The distant past stands for none.
  struct Session: Equatable {
    /// The name of the kind.
    var kind: Identifier
    /// The time of the newest event that starts activities.
    var start = Timestamp.distantPast
    /// The time of the newest event that ends them; the distant past if a later one has started them again.
    var end = Timestamp.distantPast
    /// The time of the newest event that ended them before the newest start.
    var endBefore = Timestamp.distantPast
    /// The time of the first start after that end, as far as it is known: since then the subject lives.
    var runStart = Timestamp.distantPast
    /// The time until which the newest start is worth making.
    var startableUntil = Timestamp.distantPast
    /// The relevance of the event that starts them, 0…1.
    var startRelevance: Float = 0

    /// Whether the newest of both ends them.
    var isOver: Bool { end != .distantPast && end >= start }

    /// Whether the newest of both starts them.
    var isAlive: Bool { start != .distantPast && !isOver }
  }

  /// The fields that an event has said, sorted by path.
  var fields: [KnownField] = []
  /// The sessions of the kinds that have had one, in the order in which they came.
  var sessions: [Session] = []

  var isEmpty: Bool { fields.isEmpty && sessions.isEmpty }

  /// The time of the newest event that has said a field; the distant past if none has.
  var newest: Timestamp { fields.reduce(.distantPast) { max($0, $1.time) } }

  /// Returns the session of a kind.
  func session(_ kind: Identifier) -> Session { sessions.first { $0.kind == kind } ?? Session(kind: kind) }

  /// Notes that an event starts or ends activities of a kind.
  /// - Parameters:
  ///   - evaluation: The evaluation of the event for the kind; an update changes nothing.
  ///   - kind: The name of the kind.
  ///   - time: The time from which on the event is true.
  mutating func note(_ evaluation: KindEvaluation, _ kind: Identifier, at time: Timestamp) {
    if evaluation.action == .update { return }
    // An event of relevance 0 starts nothing, also not later.
    if evaluation.action == .start, evaluation.isRelevanceStated, evaluation.relevance <= 0 { return }
    var session = session(kind)
    if evaluation.action == .end {
      if time >= session.start {
        session.end = max(session.end, time)
      } else {
        session.endBefore = max(session.endBefore, time)
        // The starts between this end and the newest start are forgotten.
        if session.runStart <= time { session.runStart = session.start }
      }
    } else if time >= session.start {
      (session.start, session.startRelevance) = (time, evaluation.relevance)
      session.startableUntil = time + min(evaluation.maxAge, ActivityTimes.lateStart)
      // One at the instant of the end before begins another session.
      if session.end != .distantPast, time >= session.end {
        (session.endBefore, session.end, session.runStart) = (max(session.endBefore, session.end), .distantPast, time)
      } else if session.runStart == .distantPast {
        session.runStart = time
      }
    } else if time > max(session.end, session.endBefore) {
      session.runStart = min(session.runStart, time)
    }
    sessions.removeAll { $0.kind == kind }
    sessions.append(session)
  }

  /// Takes over what an event says.
  /// - Parameters:
  ///   - event: The event.
  ///   - read: The fields that templates read, sorted by path. Others are dropped.
  ///   - time: The time from which on the event is true.
  /// - Returns: Whether a field has another value than before.
  @discardableResult
  mutating func take(_ event: DomainEvent, _ read: [PatchedField], at time: Timestamp) -> Bool {
    var (taken, isChange) = ([KnownField](), false)
    taken.reserveCapacity(read.count)
    for field in read {
      let known = fields.first { $0.path == field.path }
      if let known, known.time > time {
        taken.append(known)
      } else if let value = field.value(in: event) {
        // A repeat of the event that said it changes nothing, even if its text was too long to be kept.
        if known.map({ $0.time < time && $0.value != value }) ?? true { isChange = true }
        taken.append(KnownField(path: field.path, value: value, time: time))
      } else if let known {
        taken.append(known)
      }
    }
    fields = taken
    return isChange
  }

  /// The fields as they are kept for the next event.
  var bounded: KnownContent {
    var (kept, room) = (self, Self.textBytesMax)
    for place in kept.fields.indices {
      guard case .string(let text) = kept.fields[place].value else { continue }
      if text.utf8.count > room {
        kept.fields[place].value = .null
      } else {
        room -= text.utf8.count
      }
    }
    return kept
  }

  /// Returns an event that says all of it.
  /// - Parameter event: The event that was taken last; nil for a push that no event causes.
  func event(after event: DomainEvent?) -> DomainEvent {
    var all =
      event
      ?? DomainEvent(id: "", source: text("source"), type: text("type"), subject: text("subject"), time: .distantPast)
    all.fields = fields.map { EventField(path: $0.path, value: $0.value) }
    return all
  }

  private func text(_ path: Identifier) -> Identifier {
    guard case .string(let text)? = fields.first(where: { $0.path == path })?.value else { return "" }
    return Identifier(text)
  }
}
