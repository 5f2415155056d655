public import JSON

/// A line of a record of `rouse.decisions` (see `DecisionBlock`). Members that are nil are left out. `DecisionWriter` of the planner writes the
/// same bytes straight from its tables; a test compares the two.
extension Decision: JSONFields {
  /// An empty value that a decoder fills in.
  package static var blank: Decision {
    Decision(
      decision: "", event: "", events: [], device: "", instance: "", kind: "", surface: .widget, verdict: .emit,
      reason: .emitted, final: false, at: Timestamp(microseconds: 0), relevance: 0, wrong: 0, looks: 0, value: 0,
      price: 0, tokensLeft: TokensLeft(), policy: .blank)
  }

  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("decision", &decision)
    try coder.text("event", &event)
    try coder.texts("events", &events)
    try coder.text("device", &device, bytesMax: DomainBounds.plannedDeviceBytesMax)
    try coder.text("instance", &instance, bytesMax: DomainBounds.plannedInstanceBytesMax)
    try coder.text("kind", &kind)
    try coder.choice("surface", &surface)
    try coder.choice("verdict", &verdict)
    try coder.choice("reason", &reason)
    try coder.flag("final", &final)
    try coder.instant("at", &at)
    try coder.number("relevance", &relevance)
    try coder.number("wrong", &wrong)
    try coder.number("looks", &looks)
    try coder.number("value", &value)
    try coder.number("price", &price)
    try coder.object("tokensLeft", &tokensLeft)
    try coder.instant("until", &until)
    try coder.text("command", &command)
    try coder.choice("objective", &objective)
    try coder.object("policy", &policy)
    try coder.text("traceparent", &traceparent)
  }

  /// Writes the decision as a JSON object.
  public func encode(to writer: inout JSONWriter) { write(to: &writer) }

  /// Reads a decision from a JSON object.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  public init(_ node: JSONNode) throws(DomainError) { try self.init(members: node) }
}

extension Decision.TokensLeft: JSONFields {
  /// An empty value that a decoder fills in.
  package static var blank: Decision.TokensLeft { .init() }

  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.count("instance", &instance)
    try coder.count("device", &device)
    try coder.count("app", &app)
  }
}

extension PolicyReference: JSONFields {
  /// An empty value that a decoder fills in.
  package static var blank: PolicyReference { PolicyReference(version: "", hash: "") }

  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("version", &version)
    try coder.text("hash", &hash)
  }
}
