import Domain

/// One token taken from one ledger by one command.
struct LedgerCharge {
  var ledger: Command.Ledger
  var device: Identifier
  /// The instance, device, activity or app that the ledger belongs to.
  var owner: Identifier
  /// The number of tokens left, as the command says. It is untrusted and may be any number.
  var left: Int
  /// The time of the command.
  var at: Timestamp
  /// The hash of the policy.
  var policy: Identifier
  /// The id of the command.
  var id: RecordId

  /// The id of the command as text, for the report.
  var command: Identifier { id.text(of: .command) }
}

// MARK: Bytes

extension LedgerCharge {
  /// All fields but the id, which is in the key.
  var bytes: [UInt8] {
    var writer = BinaryWriter()
    writer.place(of: ledger)
    for text in [device, owner, policy] { writer.string(text) }
    writer.zigzag(Int64(left))
    writer.timestamp(at)
    return writer.bytes
  }

  /// Reads `bytes`.
  init(_ bytes: [UInt8], id: RecordId) throws(BinaryError) {
    var reader = BinaryReader(bytes)
    ledger = try reader.value()
    device = try reader.identifier()
    owner = try reader.identifier()
    policy = try reader.identifier()
    left = Int(try reader.zigzag())
    at = try reader.timestamp()
    self.id = id
    try reader.end()
  }
}
