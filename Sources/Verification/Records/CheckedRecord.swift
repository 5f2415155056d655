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
    case .decision(var decision):
      writer.bool(true)
      decision.fields(&writer)
    case .command(var command):
      writer.bool(false)
      command.fields(&writer)
    }
    return writer.bytes
  }

  /// Decodes what `bytes` returned.
  init(_ bytes: [UInt8], id: RecordId) throws(BinaryError) {
    var reader = BinaryReader(bytes)
    if try reader.bool() {
      var decision = CheckedDecision.blank
      try decision.fields(&reader)
      decision.id = id
      self = .decision(decision)
    } else {
      var command = CheckedCommand.blank
      try command.fields(&reader)
      command.id = id
      self = .command(command)
    }
    try reader.end()
  }
}
