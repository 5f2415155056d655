import JSON

/// The context attributes of a CloudEvent that Rouse uses.
struct CloudEventAttributes {
  var id: Identifier
  var source: Identifier
  var type: Identifier
  var subject: Identifier?
  var time: Timestamp
  var traceparent: String?
  /// The path of the subject in messages: a header in binary mode, a member in structured mode.
  var subjectPath: String
  /// The path of the data in messages.
  var dataPath: String
}

/// Reads CloudEvents 1.0 from Kafka records: structured mode (`application/cloudevents+json`, or a JSON object without
/// any content type) and binary mode (attributes in `ce_` headers, the value is the data).
/// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md
final class CloudEventReader {
  private let reader = JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)
  /// The cache of the strings of sources and types, which repeat from event to event.
  private var names = StringPool()

  /// The media type as nearly every publisher spells it. A header that equals it needs no parsing.
  private static let structuredMediaType = Array("application/cloudevents+json".utf8)

  private enum Mode { case structured, binary }

  /// Reads attributes and data, and hands them to `body`.
  /// - Parameters:
  ///   - record: the record.
  ///   - body: makes the result from attributes and data. The data is nil if the event has none, or if it is null.
  /// - Throws: `DomainError` if the record is no CloudEvent; also the error of `body`.
  func read<Value>(
    _ record: CloudEventRecord,
    _ body: (CloudEventAttributes, JSONNode?) throws(DomainError) -> Value
  ) throws(DomainError) -> Value {
    switch try CloudEventReader.mode(of: record) {
    case .structured:
      guard let value = record.value else {
        throw DomainError(
          .missingField, path: "$", message: "missing; expected a CloudEvent, found a record without value")
      }
      return try reader.read(value) { (root: JSONNode) throws(DomainError) in
        let attributes = try structuredAttributes(root, record)
        return try body(attributes, try CloudEventReader.structuredData(root))
      }
    case .binary:
      let attributes = try binaryAttributes(record)
      guard let value = record.value, !value.isEmpty else { return try body(attributes, nil) }
      return try reader.read(value) { (root: JSONNode) throws(DomainError) in
        try body(attributes, root.isNull ? nil : root)
      }
    }
  }

  /// Returns the extension `partitionkey`.
  /// - Parameter record: the record.
  /// - Returns: the text; nil if the event has none.
  /// - Throws: `DomainError` if the record is no CloudEvent, or the extension is not a string of 1 to 256 bytes.
  func partitionKey(of record: CloudEventRecord) throws(DomainError) -> String? {
    switch try CloudEventReader.mode(of: record) {
    case .structured:
      return try reader.read(record.value ?? []) { (root: JSONNode) throws(DomainError) in
        try root.textIfPresent("partitionkey")
      }
    case .binary: return try CloudEventReader.attribute("ce_partitionkey", record)
    }
  }

  private static func mode(of record: CloudEventRecord) throws(DomainError) -> Mode {
    guard let header = record.header("content-type") else {
      return record.hasAttributeHeaders ? .binary : .structured
    }
    if header == structuredMediaType { return .structured }
    let text = String(decoding: header.prefix(DomainBounds.nameBytesMax), as: UTF8.self)
    let mediaType = mediaType(text)
    if mediaType == "application/cloudevents+json" { return .structured }
    if mediaType.hasPrefix("application/cloudevents-batch") {
      throw DomainError(
        .unsupportedContentType, path: "content-type",
        message: "batched content mode is not supported; send one event per record")
    }
    if mediaType.hasPrefix("application/cloudevents") || (!isJSON(mediaType) && !(record.value ?? []).isEmpty) {
      throw DomainError(
        .unsupportedContentType, path: "content-type",
        message: "expected application/cloudevents+json, or JSON data with ce_ headers, found \"\(text)\"")
    }
    return .binary
  }

  /// Returns a media type in lower case and without parameters.
  private static func mediaType(_ text: String) -> String {
    let bare = text.prefix { $0 != ";" }
    return bare.filter { $0 != " " && $0 != "\t" }.lowercased()
  }

  private static func isJSON(_ mediaType: String) -> Bool {
    mediaType == "application/json" || mediaType == "text/json" || mediaType.hasSuffix("+json")
  }

  // MARK: Structured mode

  private func structuredAttributes(
    _ root: JSONNode, _ record: CloudEventRecord
  ) throws(DomainError) -> CloudEventAttributes {
    let version = try root.require("specversion", "\"1.0\"")
    // Readers differ in which of two they take, so the publisher's key might be checked against the other.
    if let key = root.repeatedKey { throw Self.doubled(key, path: "$.\(key)") }
    guard version.equals("1.0") else {
      throw DomainError(
        version.kind == .string ? .unsupportedSpecversion : .wrongType, path: version.path,
        message: version.wrongValue("\"1.0\"").message)
    }
    return CloudEventAttributes(
      id: try root.identifier("id"), source: try name(root, "source"), type: try name(root, "type"),
      subject: try root.identifierIfPresent("subject"), time: try root.instantIfPresent("time") ?? record.timestamp,
      traceparent: try root.textIfPresent("traceparent"), subjectPath: "$.subject", dataPath: "$.data")
  }

  private func name(_ root: JSONNode, _ key: StaticString) throws(DomainError) -> Identifier {
    let node = try root.require(key, "a string")
    try node.checkText(bytesMax: DomainBounds.nameBytesMax)
    return node.withUTF8 { names.string($0) }
  }

  private static func structuredData(_ root: JSONNode) throws(DomainError) -> JSONNode? {
    if let encoded = root.optional("data_base64") {
      throw DomainError(
        .unsupportedContentType, path: encoded.path, message: "binary data is not supported; expected JSON in \"data\"")
    }
    let data = root.optional("data")
    if let contentType = root.optional("datacontenttype"), !contentType.equals("application/json") {
      let text = try contentType.text()
      guard data == nil || isJSON(mediaType(text)) else {
        throw DomainError(
          .unsupportedContentType, path: contentType.path, message: contentType.wrongValue("application/json").message)
      }
    }
    return data
  }

  // MARK: Binary mode

  private func binaryAttributes(_ record: CloudEventRecord) throws(DomainError) -> CloudEventAttributes {
    try CloudEventReader.requireSingle(record.headers)
    guard let version = try CloudEventReader.attribute("ce_specversion", record) else {
      throw DomainError(
        .missingField, path: "ce_specversion",
        message: "missing; expected \"1.0\" in a header, or a value with content type application/cloudevents+json")
    }
    guard version == "1.0" else {
      throw DomainError(
        .unsupportedSpecversion, path: "ce_specversion", message: "expected \"1.0\", found \"\(version)\"")
    }
    return CloudEventAttributes(
      id: try CloudEventReader.required("ce_id", record), source: try CloudEventReader.required("ce_source", record),
      type: try CloudEventReader.required("ce_type", record),
      subject: try CloudEventReader.attribute("ce_subject", record).map { Identifier($0) },
      time: try CloudEventReader.time(record),
      traceparent: try CloudEventReader.attribute("ce_traceparent", record), subjectPath: "ce_subject", dataPath: "$")
  }

  /// Checks that no header of an attribute, and no content type, comes twice.
  private static func requireSingle(_ headers: [CloudEventRecord.Header]) throws(DomainError) {
    var seen: Set<String> = []
    for header in headers {
      let name = header.name.lowercased()
      guard name.hasPrefix("ce_") || name == "content-type" else { continue }
      if !seen.insert(name).inserted { throw doubled(name, path: name) }
    }
  }

  private static func doubled(_ name: String, path: String) -> DomainError {
    DomainError(
      .invalidValue, path: path, message: "expected one value, found \"\(name.prefix(64))\" twice")
  }

  private static func required(_ name: StaticString, _ record: CloudEventRecord) throws(DomainError) -> Identifier {
    guard let text = try attribute(name, record) else {
      throw DomainError(.missingField, path: "\(name)", message: "missing; expected a header with a string")
    }
    return Identifier(text)
  }

  private static func attribute(_ name: StaticString, _ record: CloudEventRecord) throws(DomainError) -> String? {
    guard let bytes = record.header(name) else { return nil }
    guard bytes.count <= DomainBounds.nameBytesMax else {
      throw DomainError(
        .outOfBounds, path: "\(name)",
        message: "expected a string of at most \(DomainBounds.nameBytesMax) bytes, found \(bytes.count)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw DomainError(.invalidUTF8, path: "\(name)", message: "expected UTF-8")
    }
    if text.isEmpty {
      throw DomainError(.invalidValue, path: "\(name)", message: "expected a string that is not empty, found \"\"")
    }
    return text
  }

  private static func time(_ record: CloudEventRecord) throws(DomainError) -> Timestamp {
    guard let text = try attribute("ce_time", record) else { return record.timestamp }
    guard let time = Timestamp(rfc3339: text) else {
      throw DomainError(
        .invalidValue, path: "ce_time", message: "expected \(Timestamp.expectation), found \"\(text.prefix(64))\"")
    }
    return time
  }
}
