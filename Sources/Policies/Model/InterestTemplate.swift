public import Domain

/// A text with placeholders, such as `airport/{data.origin}`, split into parts.
public struct InterestTemplate: Equatable, Sendable {
  /// A part of a template.
  public enum Part: Equatable, Sendable {
    /// Literal text.
    case text(String)
    /// A placeholder: `subject`, `type`, `source` or a path that begins with `data.`.
    case field(Identifier)
    /// A placeholder with filters, which make the text from a part of the field: `{data.flight|prefix:2}`.
    case filtered(Identifier, [KeyFilter])
  }
  /// The parts, in the order of the text.
  public var parts: [Part]

  /// Creates a template. Nothing is checked.
  public init(parts: [Part]) { self.parts = parts }

  /// The template `{subject}`.
  public static let subject = InterestTemplate(parts: [.field("subject")])

  /// Returns the text for an event; nil if a field is missing or null, or a filter leaves nothing.
  public func key(for event: DomainEvent) -> Identifier? {
    if parts.count == 1, case .field("subject") = parts[0] { return event.subject }
    var key = ""
    for part in parts {
      switch part {
      case .text(let text): key += text
      case .field(let path):
        guard let text = Self.text(of: path, in: event) else { return nil }
        key += text
      case .filtered(let path, let filters):
        guard let text = Self.text(of: path, in: event, filters) else { return nil }
        key += text
      }
    }
    return Identifier(key)
  }

  /// Returns the text of a placeholder after its filters; nil if the field is missing or null, or a filter leaves nothing.
  /// - Parameters:
  ///   - path: `subject`, `type`, `source` or a path that begins with `data.`.
  ///   - event: The event.
  ///   - filters: The filters, in their order.
  public static func text(of path: Identifier, in event: DomainEvent, _ filters: [KeyFilter] = []) -> String? {
    var result: String?
    switch path {
    case "subject": result = event.subject.text
    case "type": result = event.type.text
    case "source": result = event.source.text
    default:
      switch event.value(at: path) {
      case .string(let text): result = text
      case .number, .integer, .inexact: result = event.value(at: path)?.numberText
      case .bool(let flag): result = flag ? "true" : "false"
      case .null, nil: return nil
      }
    }
    for filter in filters { result = result.flatMap { filter($0) } }
    return result
  }
}
