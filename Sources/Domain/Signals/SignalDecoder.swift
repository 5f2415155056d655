import JSON

/// Reads the records of `rouse.signals`: CloudEvents whose type is one of `rouse.signal.*`. A decoder keeps its buffers for the
/// next record, so every thread needs its own.
public final class SignalDecoder {
  private let reader = CloudEventReader()

  /// Creates a decoder.
  public init() {}

  /// Reads one record.
  /// - Throws: `DomainError` with the path of the first field that is missing or wrong.
  public func decode(_ record: CloudEventRecord) throws(DomainError) -> Signal {
    try reader.read(record) { (attributes, data) throws(DomainError) in
      try data?.requireObject()
      return Signal(
        device: try SignalDecoder.device(attributes, data, key: record.key), id: attributes.id, time: attributes.time,
        kind: try SignalDecoder.kind(attributes, data))
    }
  }

  private static func kind(_ attributes: CloudEventAttributes, _ data: JSONNode?) throws(DomainError) -> Signal.Kind {
    guard let name = Signal.Name(rawValue: attributes.type.text) else {
      let known = Signal.Name.allCases.map(\.rawValue)
      let near = NearestName.of(attributes.type.text, among: known).map { "did you mean \"\($0)\"?" }
      throw DomainError(
        .unknownType, path: attributes.dataPath == "$" ? "ce_type" : "$.type",
        message:
          "expected a signal type, found \"\(attributes.type)\"; \(near ?? "known: " + known.joined(separator: ", "))")
    }
    var kind = Signal.Kind.blank(of: name)
    if let data {
      var members = JSONMembers(node: data)
      try kind.members(&members)
    } else if !kind.isComplete {
      throw DomainError(.missingField, path: attributes.dataPath, message: "missing; expected an object")
    }
    return kind
  }

  /// Returns the device that the data, the subject or the record's key names. Those that name one must agree.
  private static func device(
    _ attributes: CloudEventAttributes, _ data: JSONNode?, key: [UInt8]?
  ) throws(DomainError) -> Identifier {
    let devicePath = attributes.dataPath + ".device"
    var found: (name: Identifier, path: String)?
    func agree(_ name: Identifier?, _ path: String) throws(DomainError) {
      guard let name else { return }
      if let first = found, first.name != name {
        throw DomainError(
          .keyMismatch, path: path,
          message: "expected the device \"\(first.name)\" as in \(first.path), found \"\(name)\"")
      }
      if found == nil { found = (name, path) }
    }
    try agree(try data?.identifierIfPresent("device"), devicePath)
    try agree(attributes.subject, attributes.subjectPath)
    try agree(try key.map { (bytes) throws(DomainError) in try keyText(bytes) }, "key")
    guard let device = found?.name else {
      throw DomainError(
        .missingField, path: devicePath,
        message: "missing; expected a device here, in the subject or as the record's key")
    }
    return device
  }

  private static func keyText(_ bytes: [UInt8]) throws(DomainError) -> Identifier {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw DomainError(.invalidUTF8, path: "key", message: "expected a device in UTF-8")
    }
    guard (1...DomainBounds.nameBytesMax).contains(bytes.count) else {
      throw DomainError(
        .outOfBounds, path: "key",
        message: "expected a device of 1 to \(DomainBounds.nameBytesMax) bytes, found \(bytes.count)")
    }
    return Identifier(text)
  }
}
