import JSON
import Tracing

/// Writes spans as an OTLP `ExportTraceServiceRequest` in JSON.
///
/// Source: OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding": ids are hexadecimal, 64-bit integers are strings.
struct OTLPDocument: Sendable {
  private let service: (name: String, version: String, instance: String)
  /// The bytes of an attribute's text that are kept.
  /// - Beyond: the text is cut at a character.
  static let textBytesMax = 256

  init(service: (name: String, version: String, instance: String)) { self.service = service }

  /// Returns the document with some spans.
  func bytes(of spans: [FinishedSpan]) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.objects("resourceSpans", [service]) { service, json in
        json.object("resource") { json in
          json.objects(
            "attributes",
            [
              ("service.name", service.name), ("service.version", service.version),
              ("service.instance.id", service.instance),
            ]
          ) { attribute, json in
            json.member("key", attribute.0)
            json.object("value") { $0.member("stringValue", attribute.1) }
          }
        }
        json.objects("scopeSpans", [service]) { service, json in
          json.object("scope") { json in
            json.member("name", service.name)
            json.member("version", service.version)
          }
          json.objects("spans", spans) { Self.write($0, to: &$1) }
        }
      }
    }
    return json.bytes
  }

  private static func write(_ span: FinishedSpan, to json: inout JSONWriter) {
    json.member("traceId", span.place.traceID)
    json.member("spanId", span.place.spanID)
    if let parent = span.parent { json.member("parentSpanId", TraceContext.digits(parent)) }
    json.member("flags", 1)
    json.member("name", span.name)
    json.member("kind", number(of: span.kind))
    json.member("startTimeUnixNano", String(span.start))
    json.member("endTimeUnixNano", String(span.end))
    write(span.attributes, span.record?.attributes ?? [], to: &json)
    if !span.events.isEmpty {
      json.objects("events", span.events) { event, json in
        json.member("timeUnixNano", "\(event.nanosecondsSinceEpoch)")
        json.member("name", event.name)
        write(event.attributes, to: &json)
      }
    }
    let links = span.links.compactMap { link in link.context.trace.map { ($0, link.attributes) } }
    if !links.isEmpty {
      json.objects("links", links) { link, json in
        json.member("traceId", link.0.traceID)
        json.member("spanId", link.0.spanID)
        write(link.1, to: &json)
      }
    }
    guard let status = span.status else { return }
    json.object("status") { json in
      json.member("code", status.code == .ok ? 1 : 2)
      if let message = status.message { json.member("message", cut(message)) }
    }
  }

  /// Returns the number of a kind in OTLP.
  private static func number(of kind: SpanKind) -> Int {
    switch kind {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }

  /// Writes attributes by their names, then further ones in their order.
  private static func write(
    _ attributes: SpanAttributes, _ others: [(String, SpanAttribute)] = [], to json: inout JSONWriter
  ) {
    var list: [(String, SpanAttribute)] = []
    attributes.forEach { list.append(($0, $1)) }
    list.sort { $0.0 < $1.0 }
    list += others
    guard !list.isEmpty else { return }
    json.objects("attributes", list) { attribute, json in
      json.member("key", attribute.0)
      json.object("value") { write(attribute.1, to: &$0) }
    }
  }

  private static func write(_ value: SpanAttribute, to json: inout JSONWriter) {
    switch value {
    case .int32(let value): json.member("intValue", "\(value)")
    case .int64(let value): json.member("intValue", "\(value)")
    case .double(let value) where value.isFinite: json.member("doubleValue", value)
    case .bool(let value): json.member("boolValue", value)
    case .string(let value): json.member("stringValue", cut(value))
    case .stringConvertible(let value): json.member("stringValue", cut("\(value)"))
    case .double(let value): json.member("stringValue", "\(value)")
    case .int32Array(let values): json.member("stringValue", cut("\(values)"))
    case .int64Array(let values): json.member("stringValue", cut("\(values)"))
    case .doubleArray(let values): json.member("stringValue", cut("\(values)"))
    case .boolArray(let values): json.member("stringValue", cut("\(values)"))
    case .stringArray(let values): json.member("stringValue", cut("\(values)"))
    // The library asks for it: further kinds of values may come.
    default: json.member("stringValue", cut("\(value)"))
    }
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > textBytesMax else { return text }
    var (kept, bytes) = ("", 0)
    for character in text {
      bytes += character.utf8.count
      if bytes > textBytesMax { break }
      kept.append(character)
    }
    return kept
  }
}
