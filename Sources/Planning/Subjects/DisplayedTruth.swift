package import Domain
package import Policies

/// The newest known state of what a kind displays of one subject, field by field. An event changes only the fields that it
/// carries: a statistics event that says nothing about the score leaves the score as it is.
///
/// Each field is kept as a *look*, a hash of its value after the policy's rounding: equal looks are equal on the screen.
package struct DisplayedTruth: Equatable, Sendable {
  /// The look of each displayed field, in the policy's order; 0 for one that no event has carried yet, or that is null.
  package private(set) var looks: [UInt64]

  /// Creates the state of a subject of which nothing is known.
  /// - Parameter count: The number of displayed fields.
  package init(count: Int) { looks = Array(repeating: 0, count: count) }

  init(looks: [UInt64]) { self.looks = looks }

  /// Takes over the displayed fields that an event carries.
  /// - Parameter displays: The kind's displayed fields, as many as `looks`.
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

  /// Returns one number for all fields of the subject, never 0. Equal numbers look the same on the screen; two subjects
  /// never do.
  package func fingerprint(subject: String) -> UInt64 {
    var hash = Hash64()
    hash.add(subject)
    for look in looks { hash.add(look) }
    return hash.value
  }
}
