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
  /// The hash of the policy that the command was sent under.
  var policy: Identifier
  /// The id of the command.
  var id: RecordId

  /// The id of the command as text, for the report.
  var command: Identifier { id.text(of: .command) }
}

// MARK: Bytes

extension LedgerCharge {
  /// The charge as bytes: all fields but the id, which is in the key.
  var bytes: [UInt8] {
    var writer = BinaryWriter()
    var charge = self
    charge.fields(&writer)
    return writer.bytes
  }

  /// Decodes what `bytes` returned.
  init(_ bytes: [UInt8], id: RecordId) throws(BinaryError) {
    self.init(
      ledger: .device, device: "", owner: "", left: 0, at: Timestamp(microseconds: 0), policy: "", id: id)
    var reader = BinaryReader(bytes)
    try fields(&reader)
    try reader.end()
  }

  /// Encodes or decodes all fields but the id.
  private mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&ledger, "a ledger")
    try coder.string(&device, "a device")
    try coder.string(&owner, "an owner")
    try coder.string(&policy, "a policy")
    try coder.zigzag(&left, "the tokens left")
    try coder.timestamp(&at, "an instant")
  }
}
