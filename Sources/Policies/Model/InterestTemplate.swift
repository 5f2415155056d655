public import Domain

/// A text with placeholders, such as `airport/{data.origin}`, split into parts.
public struct InterestTemplate: Equatable, Sendable {
  /// A part of a template.
  public enum Part: Equatable, Sendable {
    /// Literal text.
    case text(String)
    /// A placeholder: `subject`, `type`, `source` or a path that begins with `data.`.
    case field(Identifier)
  }
  /// The parts, in the order of the text.
  public var parts: [Part]

  /// Creates a template. Nothing is checked.
  public init(parts: [Part]) { self.parts = parts }

  /// The template `{subject}`.
  public static let subject = InterestTemplate(parts: [.field("subject")])

  /// Returns the text for an event; nil if a field is missing or null.
  public func key(for event: DomainEvent) -> Identifier? {
    if parts.count == 1, case .field("subject") = parts[0] { return event.subject }
    var key = ""
    for part in parts {
      switch part {
      case .text(let text): key += text
      case .field("subject"): key += event.subject.text
      case .field("type"): key += event.type.text
      case .field("source"): key += event.source.text
      case .field(let path):
        switch event.value(at: path) {
        case .string(let text): key += text
        case .number(let number): key += Self.text(of: number)
        case .bool(let flag): key += flag ? "true" : "false"
        case .null, nil: return nil
        }
      }
    }
    return Identifier(key)
  }

  private static func text(of number: Double) -> String {
    if let whole = Int64(exactly: number) { return String(whole) }
    return String(number)
  }
}
