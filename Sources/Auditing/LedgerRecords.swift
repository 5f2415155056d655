import Domain

/// What a ledger check keeps of a decision until all records are there.
struct CheckedDecision {
  var id: RecordId
  var event: String
  var device: String
  var instance: String
  var kind: String
  var code: DecisionCode
  /// The command that it names.
  var command: RecordId?
  /// Hashes of all events that the command delivers; sorted, and empty without a command.
  var events: [UInt64]

  init(_ decision: Decision, id: RecordId, command: RecordId?) {
    self.id = id
    event = decision.event
    device = decision.device
    instance = decision.instance
    kind = decision.kind
    code = DecisionCode(decision)
    self.command = command
    events = command == nil ? [] : decision.events.map(LedgerCheck.hash).sorted()
  }

  var verdict: Verdict { code.verdict }
  var reason: Reason { code.reason }
  var name: String { id.text(prefix: "d") }
}

/// What a ledger check keeps of a command.
struct CheckedCommand {
  struct Served {
    var instance: String
    var kind: String
    var reason: Reason
    /// Hashes, sorted.
    var events: [UInt64]
  }

  var id: RecordId
  var device: String
  /// µs
  var at: Int64
  /// Hash of the policy.
  var policy: String
  var serves: [Served]
  var charged: [Command.Charge]

  init(_ command: Command, id: RecordId) {
    self.id = id
    device = command.device
    at = command.at.microseconds
    policy = command.policy.hash
    serves = command.serves.map {
      Served(instance: $0.instance, kind: $0.kind, reason: $0.reason, events: $0.events.map(LedgerCheck.hash).sorted())
    }
    charged = command.charged
  }

  var name: String { id.text(prefix: "c") }

  func charge(_ charge: Command.Charge) -> LedgerReplay.Charge {
    LedgerReplay.Charge(
      ledger: charge.ledger, device: device, owner: charge.owner, left: charge.left, at: at, policy: policy, id: id)
  }
}

/// One of them as bytes. The id stands in the key of the spill.
enum CheckedRecord {
  case decision(CheckedDecision)
  case command(CheckedCommand)

  var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .decision(let decision):
      writer.unsigned(0)
      for text in [decision.device, decision.event, decision.instance, decision.kind] { writer.text(text) }
      writer.signed(decision.code.code)
      writer.unsigned(decision.command == nil ? 0 : 1)
      if let command = decision.command {
        for number in [command.partition, command.offset, command.ordinal] { writer.signed(number) }
        writer.list(decision.events) { $1.unsigned($0) }
      }
    case .command(let command):
      writer.unsigned(1)
      writer.text(command.device)
      writer.signed(command.at)
      writer.text(command.policy)
      writer.list(command.serves) { served, writer in
        writer.text(served.instance)
        writer.text(served.kind)
        writer.signed(served.reason.code)
        writer.list(served.events) { $1.unsigned($0) }
      }
      writer.list(command.charged) { charge, writer in
        writer.signed(charge.ledger.code)
        writer.text(charge.owner)
        writer.signed(Int64(charge.left))
      }
    }
    return writer.bytes
  }

  init(_ bytes: [UInt8], id: RecordId) throws {
    var reader = ByteReader(bytes)
    self =
      try reader.unsigned() == 0
      ? .decision(try CheckedDecision(&reader, id: id)) : .command(try CheckedCommand(&reader, id: id))
  }
}

extension CheckedDecision {
  fileprivate init(_ reader: inout ByteReader, id: RecordId) throws {
    self.id = id
    device = try reader.text()
    event = try reader.text()
    instance = try reader.text()
    kind = try reader.text()
    code = try DecisionCode(code: try reader.signed())
    guard try reader.unsigned() == 1 else {
      (command, events) = (nil, [])
      return
    }
    command = RecordId(partition: try reader.signed(), offset: try reader.signed(), ordinal: try reader.signed())
    events = try reader.list { try $0.unsigned() }
  }
}

extension CheckedCommand {
  fileprivate init(_ reader: inout ByteReader, id: RecordId) throws {
    self.id = id
    device = try reader.text()
    at = try reader.signed()
    policy = try reader.text()
    serves = try reader.list { reader in
      Served(
        instance: try reader.text(), kind: try reader.text(), reason: try Reason(code: try reader.signed()),
        events: try reader.list { try $0.unsigned() })
    }
    charged = try reader.list { reader in
      Command.Charge(
        ledger: try Command.Ledger(code: try reader.signed()), owner: try reader.text(), left: Int(try reader.signed()))
    }
  }
}
