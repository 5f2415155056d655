public import JSON

/// The value of `rouse.commands`. Members stand in the order of the type, what is nil is left out.
extension Command {
  /// The payload is written as it is: it must be one JSON object.
  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("command", command)
    writer.member("device", device)
    writer.member("app", app)
    writer.member("environment", environment.rawValue)
    writer.member("surface", surface.rawValue)
    writer.key("serves")
    writer.beginArray()
    for served in serves { served.encode(to: &writer) }
    writer.endArray()
    writer.key("charged")
    writer.beginArray()
    for charge in charged { charge.encode(to: &writer) }
    writer.endArray()
    writer.key("apns")
    apns.encode(to: &writer)
    writer.timestamp("at", at)
    writer.timestamp("expires", expires)
    writer.key("policy")
    policy.encode(to: &writer)
    writer.member("traceparent", traceparent)
    writer.member("subject", subject)
    writer.endObject()
  }

  public init(_ node: JSONNode) throws(DomainError) {
    try node.requireObject()
    self.init(
      command: try node.text("command"), device: try node.text("device"), app: try node.text("app"),
      environment: try node.choice("environment"), surface: try node.choice("surface"),
      serves: try node.list("serves") { (n) throws(DomainError) in try Served(n) },
      charged: try node.list("charged") { (n) throws(DomainError) in try Charge(n) },
      apns: try APNs(node.require("apns", "an object")), at: try node.instant("at"),
      expires: try node.instant("expires"), policy: try PolicyReference(node.require("policy", "an object")),
      traceparent: try node.textIfPresent("traceparent"), subject: try node.textIfPresent("subject"))
  }
}

extension Command.Served {
  fileprivate func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("instance", instance)
    writer.member("kind", kind)
    writer.list("events", events)
    writer.member("reason", reason.rawValue)
    writer.endObject()
  }

  fileprivate init(_ node: JSONNode) throws(DomainError) {
    self.init(
      instance: try node.text("instance"), kind: try node.text("kind"),
      events: try node.list("events") { (n) throws(DomainError) in try n.text() }, reason: try node.choice("reason"))
  }
}

extension Command.Charge {
  fileprivate func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("ledger", ledger.rawValue)
    writer.member("owner", owner)
    writer.key("left")
    writer.integer(left)
    writer.endObject()
  }

  fileprivate init(_ node: JSONNode) throws(DomainError) {
    self.init(
      ledger: try node.choice("ledger"), owner: try node.text("owner"),
      left: try node.require("left", "an integer").count())
  }
}

extension Command.APNs {
  fileprivate func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    switch address {
    case .token(let token): writer.member("token", token)
    case .channel(let channel): writer.member("channel", channel)
    }
    writer.key("headers")
    writer.beginObject()
    for header in headers {
      writer.key(header.name)
      writer.string(header.value)
    }
    writer.endObject()
    writer.key("payload")
    writer.raw(payload)
    writer.endObject()
  }

  fileprivate init(_ node: JSONNode) throws(DomainError) {
    try node.requireObject()
    let address: Address
    switch (node.optional("token"), node.optional("channel")) {
    case (let token?, nil): address = .token(try token.text(bytesMax: DomainBounds.tokenBytesMax))
    case (nil, let channel?): address = .channel(try channel.text(bytesMax: DomainBounds.tokenBytesMax))
    case (nil, nil): throw DomainError(node.missing("token", expected: "either a token or a channel"))
    case (_?, let channel?): throw DomainError(channel.wrongValue("either a token or a channel, not both"))
    }
    self.init(
      address: address, headers: try Command.APNs.headers(node.require("headers", "an object")),
      payload: try Command.APNs.payload(node.require("payload", "an object")))
  }

  /// Sorted by name; the first one where a name is repeated.
  private static func headers(_ node: JSONNode) throws(DomainError) -> [Command.Header] {
    let members: JSONNode.Members
    do throws(JSONError) { members = try node.object() } catch { throw DomainError(error) }
    var headers: [Command.Header] = []
    for (key, value) in members {
      let name = key.stringIfAny ?? ""
      if headers.contains(where: { $0.name == name }) { continue }
      headers.append(Command.Header(name: name, value: try value.text(bytesMax: DomainBounds.fieldBytesMax)))
    }
    headers.sort { $0.name < $1.name }
    return headers
  }

  /// The JSON text of the body, without white space.
  private static func payload(_ node: JSONNode) throws(DomainError) -> String {
    try node.requireObject()
    var writer = JSONWriter(reserving: 256)
    writer.value(node)
    if writer.bytes.count > payloadBytesMax {
      throw node.outOfBounds("a payload of at most \(payloadBytesMax) bytes", found: "\(writer.bytes.count)")
    }
    return writer.text
  }

  /// What APNs accepts at most.
  private static var payloadBytesMax: Int { 4096 }
}
