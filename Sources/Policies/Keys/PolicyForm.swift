import Domain

/// The form of a value in a policy or profile document. The reader accepts exactly this form, and the schema describes it.
enum PolicyForm: Equatable, Sendable {
  /// A duration such as `15m`, within bounds.
  case duration(ClosedRange<TimeSpan>)
  /// A number within bounds.
  case number(ClosedRange<Double>)
  /// A whole number within bounds.
  case integer(ClosedRange<Int>)
  /// `true` or `false`.
  case flag
  /// One of these texts.
  case choice([String])
  /// A local time `HH:MM`.
  case clock
  /// 24 weights, one for each local hour.
  case hours
  /// A list with this number of elements.
  case list(ClosedRange<Int>)
  /// A mapping with known keys, or from names that the author of the policy chooses.
  case mapping
  /// A text with a special syntax, or a value of several forms. The schema describes it by hand.
  case other
}

/// The part of a key's description that does not depend on the type that holds its value.
struct PolicyKeyDescription: Equatable, Sendable {
  /// The name in the document.
  var name: String
  /// The meaning, as the schema and the reference page print it.
  var meaning: String
  /// The form of the value.
  var form: PolicyForm
  /// Whether a mapping without the key is refused.
  var isRequired = false
  /// The default, as written in a document. Nil if there is none, or if it comes
  /// from the profile.
  var standard: String?
}
