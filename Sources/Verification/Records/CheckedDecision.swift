import Domain

/// The parts of a decision that a ledger check keeps until all records have been added.
struct CheckedDecision {
  var id: RecordId
  var event: Identifier
  var device: Identifier
  var instance: Identifier
  var kind: Identifier
  var verdict: Verdict
  var reason: Reason
  var final: Bool
  /// The command that the decision names, if any.
  var command: RecordId?
  /// The hashes of all events that the command delivers, sorted. Empty without a command.
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
    events = command == nil ? [] : decision.events.map { ContentHash.of($0) }.sorted()
  }

  /// The id as text, for the report.
  var name: Identifier { id.text(of: .decision) }
}

// MARK: Bytes

extension CheckedDecision {
  /// Writes all fields but the id, which is in the key.
  func write(to writer: inout BinaryWriter) {
    for text in [device, event, instance, kind] { writer.string(text) }
    writer.place(of: verdict)
    writer.place(of: reason)
    writer.bool(final)
    writer.bool(command != nil)
    guard let command else { return }
    for number in [command.partition, command.offset, command.ordinal] { writer.zigzag(number) }
    writer.list(events) { $1.varint($0) }
  }

  /// Reads the bytes that `write` wrote.
  init(_ reader: inout BinaryReader, id: RecordId) throws(BinaryError) {
    self.id = id
    device = try reader.identifier()
    event = try reader.identifier()
    instance = try reader.identifier()
    kind = try reader.identifier()
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
