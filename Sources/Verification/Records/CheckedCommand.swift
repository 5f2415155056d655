import Domain

/// The parts of a command that a ledger check keeps until all records have been added.
struct CheckedCommand {
  /// One instance that the command serves.
  struct ServedInstance {
    var instance: String
    var kind: String
    var reason: Reason
    /// The hashes of the events that the command lists, sorted.
    var events: [UInt64]
    /// The number of events that the command leaves out of its list.
    var eventsLeftOut: Int

    /// Returns whether the command can stand for these events: it lists some of them and counts the others.
    /// - Parameter all: the hashes of the events, sorted.
    func standsFor(_ all: [UInt64]) -> Bool {
      if eventsLeftOut == 0 { return events == all }
      guard eventsLeftOut > 0, all.count - events.count == eventsLeftOut else { return false }
      var rest = all[...]
      for event in events {
        guard let place = rest.firstIndex(of: event) else { return false }
        rest = rest[(place + 1)...]
      }
      return true
    }
  }

  var id: RecordId
  var device: String
  var at: Timestamp
  /// The hash of the policy.
  var policy: String
  var serves: [ServedInstance]
  var charged: [Command.Charge]

  init(_ command: Command, id: RecordId) {
    self.id = id
    device = command.device
    at = command.at
    policy = command.policy.hash
    serves = command.serves.map {
      ServedInstance(
        instance: $0.instance, kind: $0.kind, reason: $0.reason, events: $0.events.map { ContentHash.of($0) }.sorted(),
        eventsLeftOut: $0.eventsLeftOut)
    }
    charged = command.charged
  }

  /// The id as text, for the report.
  var name: String { id.text(of: .command) }

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
      writer.zigzag(Int64(served.eventsLeftOut))
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
    device = try reader.string()
    at = try reader.timestamp()
    policy = try reader.string()
    serves = try reader.list { (reader) throws(BinaryError) in
      ServedInstance(
        instance: try reader.string(), kind: try reader.string(), reason: try reader.value(),
        events: try reader.list { (reader) throws(BinaryError) in try reader.varint() },
        eventsLeftOut: Int(try reader.zigzag()))
    }
    charged = try reader.list { (reader) throws(BinaryError) in
      Command.Charge(ledger: try reader.value(), owner: try reader.string(), left: Int(try reader.zigzag()))
    }
  }
}
