import Domain
import Policies

/// A change of the truth that one instance displays.
struct ScreenChange: Equatable, Sendable {
  /// The log time of the change, µs.
  var time: Int64
  /// The thing that changed.
  var content: Content

  /// The thing that changed.
  enum Content: Equatable, Sendable {
    /// A field of a subject has a new value. `field` is its place in `ScreenStream.fields`.
    case value(field: Int, DisplayedValue)
    /// News of this relevance, 0…1. A screen without it is wrong by that much until its next reload.
    case news(Double)
  }
}

/// The truth that one instance displays, over the whole log: the fields of all subjects that reach it, and their changes.
struct ScreenStream: Sendable {
  /// The kind's displayed fields, each with the measure of how wrong an outdated value is.
  let measures: [FieldDistance]
  /// The displayed field at each place, as a place in `measures`. A subject has one field for each displayed field.
  private(set) var fields: [Int] = []
  /// The changes, in the order of the log. A value that equals the one before it is left out.
  private(set) var changes: [ScreenChange] = []
  /// The place of the first field of each subject.
  private var subjects: [Identifier: Int] = [:]
  /// The newest value of each field.
  private var truth: [DisplayedValue] = []

  /// Creates a stream without changes.
  /// - Parameter measures: The distances of the kind's displayed fields.
  init(measures: [FieldDistance]) { self.measures = measures }

  /// Adds the value of one displayed field of a subject.
  /// - Parameters:
  ///   - value: The value that an event carries.
  ///   - place: The displayed field, a place in `measures`.
  ///   - subject: The subject of the event.
  ///   - time: Log time, µs. Must not fall from call to call.
  mutating func add(_ value: DisplayedValue, of place: Int, subject: Identifier, at time: Int64) {
    let first = subjects[subject] ?? addSubject(subject)
    let field = first + place
    if truth[field] == value { return }
    truth[field] = value
    changes.append(ScreenChange(time: time, content: .value(field: field, value)))
  }

  /// Adds news.
  /// - Parameters:
  ///   - relevance: The relevance, 0…1; nothing is added for 0.
  ///   - time: Log time, µs. Must not fall from call to call.
  mutating func add(news relevance: Double, at time: Int64) {
    if relevance > 0 { changes.append(ScreenChange(time: time, content: .news(relevance))) }
  }

  private mutating func addSubject(_ subject: Identifier) -> Int {
    let first = fields.count
    subjects[subject] = first
    fields += measures.indices
    truth += measures.map(\.initial)
    return first
  }

  /// Returns the values of all fields before the first change.
  var start: [DisplayedValue] { fields.map { measures[$0].initial } }

  /// Brings the values of all fields up to date with some changes.
  func fold(_ range: Range<Int>, into truth: inout [DisplayedValue]) {
    for change in changes[range] {
      if case .value(let field, let value) = change.content { truth[field] = value }
    }
  }
}
