package import Domain

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

extension RecordId: FieldCoded {
  /// An empty id that a decoder fills in.
  package static var blank: RecordId { RecordId(partition: 0, offset: 0, ordinal: 0) }

  /// Encodes or decodes each number.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  package mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.zigzag(&partition, "a partition")
    try coder.zigzag(&offset, "an offset")
    try coder.zigzag(&ordinal, "an ordinal")
  }
}

extension SortedSpill.Key: FieldCoded {
  /// An empty key that a decoder fills in.
  static var blank: SortedSpill.Key { SortedSpill.Key(group: 0, id: .blank) }

  /// Encodes or decodes each field.
  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.varint(&group, "a group")
    try id.fields(&coder)
  }
}

extension FieldCoder {
  /// Encodes or decodes a list of hashes: their number, then each of them.
  mutating func hashes(_ hashes: inout [UInt64]) throws(Failure) {
    try list(elements: &hashes, blank: 0) { (hash, coder) throws(Failure) in try coder.varint(&hash, "a hash") }
  }
}
