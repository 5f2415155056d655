package import Domain
package import Policies

/// The newest known state of what a kind displays of one subject, field by field. An event changes only the fields that it
/// carries: a statistics event that says nothing about the score leaves the score as it is.
///
/// Each field is kept as a *look*: a hash of its value after the policy's rounding. Values with equal looks cannot be told
/// apart on the screen.
package struct DisplayedTruth: Equatable, Sendable {
  /// The look of each displayed field, in the policy's order. 0 for a field that is null or that no event has carried yet.
  package private(set) var looks: [UInt64]

  /// Creates the state of a subject about which nothing is known.
  /// - Parameter count: The number of displayed fields.
  package init(count: Int) { looks = Array(repeating: 0, count: count) }

  init(looks: [UInt64]) { self.looks = looks }

  /// Updates the looks of the displayed fields that an event carries.
  /// - Parameters:
  ///   - event: An event about the subject.
  ///   - displays: The kind's displayed fields, as many as `looks`.
  package mutating func take(_ event: DomainEvent, displays: [DisplayField]) {
    for (place, field) in displays.enumerated() {
      if let value = event.value(at: field.path) { looks[place] = Self.look(of: value, round: field.round) }
    }
  }

  private static func look(of value: FieldValue, round: Double?) -> UInt64 {
    var hash = Hash64()
    switch value {
    case .number(let number):
      if let step = round {
        let steps = (number / step).rounded(.toNearestOrAwayFromZero)
        hash.add(byte: 1)
        hash.add((steps == 0 ? 0 : steps).bitPattern)
      } else {
        hash.add(byte: 2)
        hash.add((number == 0 ? 0 : number).bitPattern)
      }
    case .string(let text):
      hash.add(byte: 3)
      hash.add(text)
    case .bool(let flag): hash.add(byte: flag ? 4 : 5)
    case .null: return 0
    }
    return hash.value
  }

  /// Returns the hash of the subject and the looks of all its fields. Two states with the same fingerprint look the same on
  /// the screen. States of different subjects have different fingerprints.
  /// - Parameter subject: The `subject` of the events that were taken.
  package func fingerprint(subject: Identifier) -> UInt64 {
    var hash = Hash64()
    hash.add(subject)
    for look in looks { hash.add(look) }
    return hash.value
  }
}
