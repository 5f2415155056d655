import Domain
import Foundation
public import JSON

/// Writes answers as JSON with sorted keys and with times in RFC 3339. Decisions and commands have the same members as
/// on their topics.
public enum AuditJSON {
  /// A JSON value.
  indirect enum Value: Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([Value])
    case object([String: Value])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(Int64.self) {
        self = .integer(value)
      } else if let value = try? container.decode(Double.self) {
        self = .number(value)
      } else if let value = try? container.decode(String.self) {
        self = .string(value)
      } else if let values = try? container.decode([Value].self) {
        self = .array(values)
      } else {
        self = .object(try container.decode([String: Value].self))
      }
    }

    /// Reads a JSON text. A text that is no JSON becomes a string.
    init(json text: String) {
      self = (try? JSONDecoder().decode(Value.self, from: Data(text.utf8))) ?? .string(text)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .null: try container.encodeNil()
      case .bool(let value): try container.encode(value)
      case .integer(let value): try container.encode(value)
      case .number(let value): try container.encode(value)
      case .string(let value): try container.encode(value)
      case .array(let values): try container.encode(values)
      case .object(let members): try container.encode(members)
      }
    }
  }

  /// Returns an entry in the JSON form of its topic: one line without the line feed.
  public static func line(_ entry: AuditEntry) -> String {
    var writer = JSONWriter()
    write(entry, to: &writer)
    return writer.text
  }

  /// Writes an entry in the JSON form of its topic.
  public static func write(_ entry: AuditEntry, to writer: inout JSONWriter) {
    switch entry {
    case .decision(let decision): decision.encode(to: &writer)
    case .command(let command): command.encode(to: &writer)
    }
  }

  /// Returns the decisions and commands of a device as JSON.
  /// - Throws: `EncodingError`; not expected for these values.
  public static func render(_ timeline: DeviceTimeline) throws -> String { try text(value(timeline)) }
  /// Returns the decisions about an event as JSON.
  /// - Throws: `EncodingError`; not expected for these values.
  public static func render(_ effect: EventEffect) throws -> String { try text(value(effect)) }
  /// Returns the stories of an event on a device as JSON.
  /// - Throws: `EncodingError`; not expected for these values.
  public static func render(_ answer: WhyAnswer) throws -> String { try text(value(answer)) }
  /// Returns the most frequent values as JSON.
  /// - Throws: `EncodingError`; not expected for these values.
  public static func render(_ top: Top) throws -> String { try text(value(top)) }
  /// Returns the charges of a device as JSON.
  /// - Throws: `EncodingError`; not expected for these values.
  public static func render(_ statement: BudgetStatement) throws -> String { try text(value(statement)) }
  /// Returns the totals of a store as JSON.
  /// - Throws: `EncodingError`; not expected for these values.
  public static func render(_ summary: AuditSummary) throws -> String { try text(value(summary)) }

  /// The JSON text of a value.
  static func text(_ value: Value) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

extension AuditJSON.Value {
  static func time(_ time: Timestamp) -> Self { .string(Figure.time(time)) }
  static func count(_ count: Int) -> Self { .integer(Int64(count)) }
  static func string(_ name: Identifier) -> Self { .string(name.text) }
  static func strings(_ names: [Identifier]) -> Self { strings(names.map(\.text)) }
  static func strings(_ values: [String]) -> Self { .array(values.map { .string($0) }) }
  /// An object without the members that are nil.
  static func members(_ members: [String: Self?]) -> Self { .object(members.compactMapValues { $0 }) }
}
