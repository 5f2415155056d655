import Domain

/// The parts of a decision that a ledger check keeps until all records have been added.
struct CheckedDecision {
  var id: RecordId
  var event: Identifier
  var device: Identifier
  var instance: Identifier
  var kind: Identifier
  /// Whether the instance is a widget, which widget pushes and background pushes reload.
  var isWidget: Bool
  var verdict: Verdict
  var reason: Reason
  var final: Bool
  /// The log time of the decision.
  var at: Timestamp
  /// The tokens that the instance had left; negative if the decision does not say it.
  var left: Int
  /// The command that the decision names, if any.
  var command: RecordId?
  /// The hashes of all events that the command shows, as the decision lists them, sorted. Empty without a command.
  var events: [UInt64]

  /// The id as text, for the report.
  var name: Identifier { id.text(of: .decision) }
}

extension CheckedDecision {
  init(_ decision: Decision, id: RecordId, command: RecordId?) {
    self.id = id
    event = decision.event
    device = decision.device
    instance = decision.instance
    kind = decision.kind
    isWidget = decision.surface == .widget || decision.surface == .background
    verdict = decision.verdict
    reason = decision.reason
    final = decision.final
    at = decision.at
    left = decision.tokensLeft.instance ?? -1
    self.command = command
    events = command == nil ? [] : decision.events.map { FNV1a.of($0) }.sorted()
  }
}

// MARK: Bytes

extension CheckedDecision: FieldCoded {
  /// An empty value that a decoder fills in.
  static var blank: CheckedDecision {
    CheckedDecision(
      id: .blank, event: "", device: "", instance: "", kind: "", isWidget: true, verdict: .suppress, reason: .noMatch,
      final: false,
      at: Timestamp(microseconds: 0), left: -1,
      command: nil, events: [])
  }

  /// Encodes or decodes all fields but the id, which is in the key.
  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&device, "a device")
    try coder.string(&event, "an event")
    try coder.string(&instance, "an instance")
    try coder.string(&kind, "a kind")
    try coder.bool(&isWidget, "whether it is a widget")
    try coder.code(&verdict, "a verdict")
    try coder.code(&reason, "a reason")
    try coder.bool(&final, "whether it is final")
    try coder.timestamp(&at, "an instant")
    try coder.zigzag(&left, "the tokens left")
    try coder.optional(&command, "whether there is a command")
    try coder.hashes(&events)
  }
}
