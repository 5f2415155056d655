import Domain
import JSON

/// The parts of a command that a ledger check keeps until all records have been added.
struct CheckedCommand {
  /// One instance that the command serves.
  struct ServedInstance {
    var instance: Identifier
    var kind: Identifier
    var reason: Reason
    /// The hashes of the events that the command lists, sorted.
    var events: [UInt64]
    /// The number of further events that the command shows but does not list.
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
  var device: Identifier
  var at: Timestamp
  /// The hash of the policy that the command was sent under.
  var policy: Identifier
  var serves: [ServedInstance]
  var charged: [Command.Charge]
  /// The kinds that the payload of a background push names; nil for other pushes.
  var named: [Identifier]?

  /// The id as text, for the report.
  var name: Identifier { id.text(of: .command) }

  /// One of the command's charges with all that its ledger's book needs.
  func charge(_ charge: Command.Charge) -> LedgerCharge {
    LedgerCharge(
      ledger: charge.ledger, device: device, owner: charge.owner, left: charge.left, at: at, policy: policy, id: id)
  }
}

extension CheckedCommand {
  init(_ command: Command, id: RecordId, reader: JSONReader) {
    self.id = id
    device = command.device
    at = command.at
    policy = command.policy.hash
    serves = command.serves.map {
      ServedInstance(
        instance: $0.instance, kind: $0.kind, reason: $0.reason, events: $0.events.map { FNV1a.of($0) }.sorted(),
        eventsLeftOut: $0.eventsLeftOut)
    }
    charged = command.charged
    named = command.surface == .background ? Self.kinds(namedBy: command.apns.payload, reader) : nil
  }

  /// Returns the kinds that the payload of a background push names; none for any other payload.
  private static func kinds(namedBy payload: String, _ reader: JSONReader) -> [Identifier] {
    do throws(JSONError) {
      return try reader.read(Array(payload.utf8)) { (node: JSONNode) throws(JSONError) in
        node["rouse"]?["kinds"]?.elements.compactMap { $0.stringIfAny.map { Identifier($0) } } ?? []
      }
    } catch { return [] }
  }
}

// MARK: Bytes

extension CheckedCommand: FieldCoded {
  /// An empty value that a decoder fills in.
  static var blank: CheckedCommand {
    CheckedCommand(
      id: .blank, device: "", at: Timestamp(microseconds: 0), policy: "", serves: [], charged: [], named: nil)
  }

  /// Encodes or decodes all fields but the id, which is in the key.
  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&device, "a device")
    try coder.timestamp(&at, "an instant")
    try coder.string(&policy, "a policy")
    try coder.list(&serves)
    try coder.list(elements: &charged, blank: Command.Charge(ledger: .device, owner: "", left: 0)) {
      (charge, coder) throws(Coder.Failure) in
      try coder.code(&charge.ledger, "a ledger")
      try coder.string(&charge.owner, "an owner")
      try coder.zigzag(&charge.left, "the tokens left")
    }
    var isBackground = named != nil
    try coder.bool(&isBackground, "whether it is a background push")
    guard isBackground else { return }
    var kinds = named ?? []
    try coder.strings(&kinds, "a kind")
    named = kinds
  }
}

extension CheckedCommand.ServedInstance: FieldCoded {
  /// An empty value that a decoder fills in.
  static var blank: Self { Self(instance: "", kind: "", reason: .emitted, events: [], eventsLeftOut: 0) }

  /// Encodes or decodes each field.
  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&instance, "an instance")
    try coder.string(&kind, "a kind")
    try coder.code(&reason, "a reason")
    try coder.hashes(&events)
    try coder.zigzag(&eventsLeftOut, "the events left out")
  }
}
