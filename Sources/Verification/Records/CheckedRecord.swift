import Domain

/// A decision or a command as the spill keeps it. The id is in the key of the spill, not in the bytes.
enum CheckedRecord {
  case decision(CheckedDecision)
  case command(CheckedCommand)

  var device: Identifier {
    switch self {
    case .decision(let decision): decision.device
    case .command(let command): command.device
    }
  }

  var bytes: [UInt8] {
    var writer = BinaryWriter()
    switch self {
    case .decision(let decision):
      writer.bool(true)
      decision.write(to: &writer)
    case .command(let command):
      writer.bool(false)
      command.write(to: &writer)
    }
    return writer.bytes
  }

  /// Reads `bytes`.
  init(_ bytes: [UInt8], id: RecordId) throws(BinaryError) {
    var reader = BinaryReader(bytes)
    let isDecision = try reader.bool()
    self =
      isDecision
      ? .decision(try CheckedDecision(&reader, id: id)) : .command(try CheckedCommand(&reader, id: id))
    try reader.end()
  }
}
