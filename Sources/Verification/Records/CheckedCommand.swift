import Domain

/// The parts of a command that a ledger check keeps until all records have been added.
struct CheckedCommand {
  /// One instance that the command serves.
  struct ServedInstance {
    var instance: Identifier
    var kind: Identifier
    var reason: Reason
    /// The hashes of the events, sorted.
    var events: [UInt64]
  }

  var id: RecordId
  var device: Identifier
  var at: Timestamp
  /// The hash of the policy.
  var policy: Identifier
  var serves: [ServedInstance]
  var charged: [Command.Charge]

  init(_ command: Command, id: RecordId) {
    self.id = id
    device = command.device
    at = command.at
    policy = command.policy.hash
    serves = command.serves.map {
      ServedInstance(
        instance: $0.instance, kind: $0.kind, reason: $0.reason, events: $0.events.map { ContentHash.of($0) }.sorted())
    }
    charged = command.charged
  }

  /// The id as text, for the report.
  var name: Identifier { id.text(of: .command) }

  /// One of the command's charges with all that its ledger's book needs.
  func charge(_ charge: Command.Charge) -> LedgerCharge {
    LedgerCharge(
      ledger: charge.ledger, device: device, owner: charge.owner, left: charge.left, at: at, policy: policy, id: id)
  }
}

// MARK: Bytes

extension CheckedCommand {
  /// Writes all fields but the id, which is in the key.
  func write(to writer: inout BinaryWriter) {
    writer.string(device)
    writer.timestamp(at)
    writer.string(policy)
    writer.list(serves) { served, writer in
      writer.string(served.instance)
      writer.string(served.kind)
      writer.place(of: served.reason)
      writer.list(served.events) { $1.varint($0) }
    }
    writer.list(charged) { charge, writer in
      writer.place(of: charge.ledger)
      writer.string(charge.owner)
      writer.zigzag(Int64(charge.left))
    }
  }

  /// Reads the bytes that `write` wrote.
  init(_ reader: inout BinaryReader, id: RecordId) throws(BinaryError) {
    self.id = id
    device = try reader.identifier()
    at = try reader.timestamp()
    policy = try reader.identifier()
    serves = try reader.list { (reader) throws(BinaryError) in
      ServedInstance(
        instance: try reader.identifier(), kind: try reader.identifier(), reason: try reader.value(),
        events: try reader.list { (reader) throws(BinaryError) in try reader.varint() })
    }
    charged = try reader.list { (reader) throws(BinaryError) in
      Command.Charge(ledger: try reader.value(), owner: try reader.identifier(), left: Int(try reader.zigzag()))
    }
  }
}
