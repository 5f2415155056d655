public import JSON

/// The value of a record of `rouse.commands`. Members that are nil are left out.
extension Command: JSONFields {
  /// An empty value that a decoder fills in.
  package static var blank: Command {
    Command(
      command: "", device: "", app: "", environment: .production, surface: .widget, serves: [], charged: [],
      apns: APNs(address: .token(""), headers: [], payload: "{}"), at: Timestamp(microseconds: 0),
      expires: Timestamp(microseconds: 0), policy: .blank)
  }

  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("command", &command)
    try coder.text("device", &device, bytesMax: DomainBounds.plannedDeviceBytesMax)
    try coder.text("app", &app)
    try coder.choice("environment", &environment)
    try coder.choice("surface", &surface)
    try coder.objects("serves", &serves)
    try coder.objects("charged", &charged)
    try coder.request("apns", &apns)
    try coder.instant("at", &at)
    try coder.instant("expires", &expires)
    try coder.object("policy", &policy)
    try coder.text("traceparent", &traceparent)
    try coder.text("subject", &subject)
  }

  /// Writes the command as a JSON object. The payload is written as it is: it must be one JSON object.
  public func encode(to writer: inout JSONWriter) { write(to: &writer) }

  /// Reads a command from a JSON object.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  public init(_ node: JSONNode) throws(DomainError) { try self.init(members: node) }
}

extension Command.Served: JSONFields {
  /// An empty value that a decoder fills in.
  package static var blank: Command.Served { .init(instance: "", kind: "", events: [], reason: .emitted) }

  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("instance", &instance, bytesMax: DomainBounds.plannedInstanceBytesMax)
    try coder.text("kind", &kind)
    try coder.texts("events", &events)
    var leftOut = eventsLeftOut == 0 ? nil : eventsLeftOut
    try coder.count("eventsLeftOut", &leftOut)
    eventsLeftOut = leftOut ?? 0
    try coder.choice("reason", &reason)
  }
}

extension Command.Charge: JSONFields {
  /// An empty value that a decoder fills in.
  package static var blank: Command.Charge { .init(ledger: .instance, owner: "", left: 0) }

  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("ledger", &ledger)
    // The owner is an instance, a device or an app; the id of a device is the longest.
    try coder.text("owner", &owner, bytesMax: DomainBounds.plannedDeviceBytesMax)
    try coder.count("left", &left)
  }
}

extension Command.APNs {
  /// Writes the request as a JSON object. The payload is written as it is: it must be one JSON object.
  func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    address.write(to: &writer)
    writer.key("headers")
    writer.beginObject()
    for header in headers {
      writer.key(header.name.text)
      writer.string(header.value)
    }
    writer.endObject()
    writer.key("payload")
    writer.raw(payload)
    writer.endObject()
  }

  /// Reads a request from a JSON object.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  init(_ node: JSONNode) throws(DomainError) {
    try node.requireObject()
    let address = try PushTarget(node) { (token) throws(DomainError) in
      try token.text(bytesMax: DomainBounds.tokenBytesMax)
    }
    self.init(
      address: address, headers: try Command.APNs.headers(node.require("headers", "an object")),
      payload: try Command.APNs.payload(node.require("payload", "an object")))
  }

  /// Reads the headers, sorted by name. Of a repeated name the first header counts.
  private static func headers(_ node: JSONNode) throws(DomainError) -> [Command.Header] {
    let members: JSONNode.Members
    do throws(JSONError) { members = try node.object() } catch { throw DomainError(error) }
    var headers: [Command.Header] = []
    for (key, value) in members {
      let name = Identifier(key.stringIfAny ?? "")
      if headers.contains(where: { $0.name == name }) { continue }
      headers.append(Command.Header(name: name, value: try value.text(bytesMax: DomainBounds.fieldBytesMax)))
    }
    headers.sort { $0.name < $1.name }
    return headers
  }

  /// Reads the body and returns its JSON text without white space.
  private static func payload(_ node: JSONNode) throws(DomainError) -> String {
    try node.requireObject()
    var writer = JSONWriter(reserving: 256)
    writer.value(node)
    let bytesMax = DomainBounds.payloadBytesMax
    if writer.bytes.count > bytesMax {
      throw node.outOfBounds("a payload of at most \(bytesMax) bytes", found: "\(writer.bytes.count)")
    }
    return writer.text
  }
}
