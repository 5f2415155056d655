package import JSON

extension DomainEvent {
  /// Writes the event as a CloudEvent in structured mode. Each scalar of the data is a member of `data` whose name is the rest of its
  /// path, so that reading gives the same fields: `{"data":{"legs.0.gate":"B4"}}`.
  /// - Parameters:
  ///   - writer: The writer.
  ///   - logTime: The time of the event in a log, as the extension `rouselogtime`; nil leaves it out.
  package func encode(to writer: inout JSONWriter, logTime: Timestamp? = nil) {
    writer.beginObject()
    writer.key("specversion")
    writer.string("1.0" as StaticString)
    writer.member("id", id)
    writer.member("source", source)
    writer.member("type", type)
    writer.member("subject", subject)
    writer.timestamp("time", time)
    LogTime.write(logTime, to: &writer)
    writer.member("traceparent", traceparent)
    encodeData(to: &writer)
    writer.endObject()
  }

  private func encodeData(to writer: inout JSONWriter) {
    guard let first = fields.first else { return }
    writer.key("data")
    // Data that is a scalar itself has the path of the data alone.
    if first.path == Self.dataPath { return first.value.encode(to: &writer) }
    writer.beginObject()
    for field in fields {
      writer.key(String(decoding: field.path.utf8.dropFirst(Self.dataPath.utf8.count + 1), as: UTF8.self))
      field.value.encode(to: &writer)
    }
    writer.endObject()
  }

  private static let dataPath: Identifier = "data"
}

extension FieldValue {
  fileprivate func encode(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .bool(let value): writer.bool(value)
    case .number(let value): writer.number(value)
    case .integer(let value): writer.raw(value.description)
    case .inexact(let value): writer.raw(Self.digits(of: value))
    case .string(let text): writer.string(text)
    }
  }

  /// Returns a number of at least 2^63 as an integer literal that reads as the same double: its significant digits, then zeros.
  private static func digits(of number: Double) -> String {
    let parts = number.description.split(separator: "e")
    let significand = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    var fraction = significand.count > 1 ? String(significand[1]) : ""
    if fraction == "0" { fraction = "" }
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    return String(significand[0]) + fraction + String(repeating: "0", count: max(0, exponent - fraction.utf8.count))
  }
}
