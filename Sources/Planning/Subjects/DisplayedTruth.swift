package import Domain
package import Policies

/// The newest known state of what a kind displays of one subject, field by field. An event changes only the fields that it
/// carries: a statistics event that says nothing about the score leaves the score as it is. Nor does it change a field that a newer event
/// has said, whatever the type of that: a card of minute 25 that arrives after the goal of minute 40 does not bring the old score back.
package struct DisplayedTruth: Equatable, Sendable {
  /// The value of each displayed field, in the policy's order; absent for a field that is null or that no event has carried yet.
  package private(set) var values: [DisplayedValue]
  /// The time of the event that said each value; the distant past if none did.
  private var times: [Timestamp]

  /// Creates a state.
  /// - Parameter values: The value of each displayed field; of a subject about which nothing is known, the initial ones.
  package init(values: [DisplayedValue]) {
    self.values = values
    times = Array(repeating: .distantPast, count: values.count)
  }

  /// Updates the values of the displayed fields that an event carries, but for those that a newer event has said.
  /// - Parameters:
  ///   - event: An event about the subject.
  ///   - fields: The kind's displayed fields, as many as `values`.
  ///   - now: Log time. An event from the future counts as from now.
  /// - Returns: The places of the fields that the event has said.
  package mutating func take(_ event: DomainEvent, fields: [FieldDistance], now: Timestamp) -> [Int] {
    let time = min(event.time, now)
    var said: [Int] = []
    for place in fields.indices where times[place] <= time {
      guard let value = fields[place].value(in: event) else { continue }
      (values[place], times[place]) = (value, time)
      said.append(place)
    }
    return said
  }

  /// Returns the hash of the subject and of what the screen shows of all its fields. Two states with the same fingerprint look
  /// the same on the screen. States of different subjects have different fingerprints.
  /// - Parameters:
  ///   - subject: The `subject` of the events that were taken, hashed with the standard key.
  ///   - fields: The kind's displayed fields, as many as `values`.
  package func fingerprint(subject: Identifier, fields: [FieldDistance]) -> KeyedHash {
    var hash = SipHash(key: .standard)
    hash.add(utf8: subject.utf8.span)
    return Self.fingerprint(subject: hash, values.span, fields)
  }

  /// Returns the hash of the subject and of what the screen shows of these values.
  /// - Parameters:
  ///   - subject: The hash of the subject of the events.
  ///   - values: The values of the kind's displayed fields.
  ///   - fields: The displayed fields, as many.
  static func fingerprint(subject: SipHash, _ values: Span<DisplayedValue>, _ fields: [FieldDistance]) -> KeyedHash {
    var hash = subject
    for place in values.indices {
      let look = fields[place].look(of: values[place])
      hash.add(look.low)
      hash.add(look.high)
    }
    return hash.value
  }
}
