import Domain

/// What a ledger check keeps of a decision until all records are there.
struct CheckedDecision {
  var id: RecordId
  var event: String
  var device: String
  var instance: String
  var kind: String
  var verdict: Verdict
  var reason: Reason
  var final: Bool
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
    verdict = decision.verdict
    reason = decision.reason
    final = decision.final
    self.command = command
    events = command == nil ? [] : decision.events.map(LedgerCheck.hash).sorted()
  }

  var name: String { id.text(of: .decision) }
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

  var name: String { id.text(of: .command) }

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
    var writer = BinaryWriter()
    switch self {
    case .decision(let decision):
      writer.bool(true)
      for text in [decision.device, decision.event, decision.instance, decision.kind] { writer.string(text) }
      writer.place(of: decision.verdict)
      writer.place(of: decision.reason)
      writer.bool(decision.final)
      writer.bool(decision.command != nil)
      if let command = decision.command {
        for number in [command.partition, command.offset, command.ordinal] { writer.zigzag(number) }
        writer.list(decision.events) { $1.varint($0) }
      }
    case .command(let command):
      writer.bool(false)
      writer.string(command.device)
      writer.zigzag(command.at)
      writer.string(command.policy)
      writer.list(command.serves) { served, writer in
        writer.string(served.instance)
        writer.string(served.kind)
        writer.place(of: served.reason)
        writer.list(served.events) { $1.varint($0) }
      }
      writer.list(command.charged) { charge, writer in
        writer.place(of: charge.ledger)
        writer.string(charge.owner)
        writer.zigzag(Int64(charge.left))
      }
    }
    return writer.bytes
  }

  init(_ bytes: [UInt8], id: RecordId) throws(BinaryError) {
    var reader = BinaryReader(bytes)
    self =
      try reader.bool()
      ? .decision(try CheckedDecision(&reader, id: id)) : .command(try CheckedCommand(&reader, id: id))
  }
}

extension CheckedDecision {
  fileprivate init(_ reader: inout BinaryReader, id: RecordId) throws(BinaryError) {
    self.id = id
    device = try reader.string()
    event = try reader.string()
    instance = try reader.string()
    kind = try reader.string()
    verdict = try reader.value()
    reason = try reader.value()
    final = try reader.bool()
    guard try reader.bool() else {
      (command, events) = (nil, [])
      return
    }
    command = RecordId(partition: try reader.zigzag(), offset: try reader.zigzag(), ordinal: try reader.zigzag())
    events = try reader.list { (reader) throws(BinaryError) in try reader.varint() }
  }
}

extension CheckedCommand {
  fileprivate init(_ reader: inout BinaryReader, id: RecordId) throws(BinaryError) {
    self.id = id
    device = try reader.string()
    at = try reader.zigzag()
    policy = try reader.string()
    serves = try reader.list { (reader) throws(BinaryError) in
      Served(
        instance: try reader.string(), kind: try reader.string(), reason: try reader.value(),
        events: try reader.list { (reader) throws(BinaryError) in try reader.varint() })
    }
    charged = try reader.list { (reader) throws(BinaryError) in
      Command.Charge(
        ledger: try reader.value(), owner: try reader.string(), left: Int(try reader.zigzag()))
    }
  }
}

extension BinaryWriter {
  /// Writes the place of a case among all of its enumeration. It may change from release to release, so only files that the
  /// same process reads again may hold it.
  mutating func place<Value: CaseIterable & Equatable>(of value: Value) where Value.AllCases == [Value] {
    count(Value.allCases.firstIndex(of: value) ?? 0)
  }
}

extension BinaryReader {
  /// Reads what `place(of:)` wrote.
  mutating func value<Value: CaseIterable>() throws(BinaryError) -> Value where Value.AllCases == [Value] {
    let start = offset
    let place: Int = try integer()
    guard Value.allCases.indices.contains(place) else { throw .corrupt(offset: start, what: "a case of \(Value.self)") }
    return Value.allCases[place]
  }
}
