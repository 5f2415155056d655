public import JSON

/// The value of `rouse.decisions`. Members stand in the order of the type, what is nil is left out.
extension Decision {
  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("decision", decision)
    writer.member("event", event)
    writer.list("events", events)
    writer.member("device", device)
    writer.member("instance", instance)
    writer.member("kind", kind)
    writer.member("surface", surface.rawValue)
    writer.member("verdict", verdict.rawValue)
    writer.member("reason", reason.rawValue)
    writer.key("final")
    writer.bool(final)
    writer.timestamp("at", at)
    writer.key("relevance")
    writer.rounded(relevance)
    writer.key("value")
    writer.rounded(value)
    writer.key("price")
    writer.rounded(price)
    writer.key("tokensLeft")
    tokensLeft.encode(to: &writer)
    if let until { writer.timestamp("until", until) }
    writer.member("command", command)
    writer.key("policy")
    policy.encode(to: &writer)
    writer.member("traceparent", traceparent)
    writer.endObject()
  }

  public init(_ node: JSONNode) throws(DomainError) {
    try node.requireObject()
    self.init(
      decision: try node.text("decision"), event: try node.text("event"),
      events: try node.list("events") { (n) throws(DomainError) in try n.text() }, device: try node.text("device"),
      instance: try node.text("instance"), kind: try node.text("kind"), surface: try node.choice("surface"),
      verdict: try node.choice("verdict"), reason: try node.choice("reason"),
      final: try node.require("final", "a boolean").flag(), at: try node.instant("at"),
      relevance: try node.number("relevance"), value: try node.number("value"), price: try node.number("price"),
      tokensLeft: try TokensLeft(node.require("tokensLeft", "an object")),
      until: try node.instantIfPresent("until"), command: try node.textIfPresent("command"),
      policy: try PolicyReference(node.require("policy", "an object")),
      traceparent: try node.textIfPresent("traceparent"))
  }
}

extension Decision.TokensLeft {
  fileprivate func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    if let instance {
      writer.key("instance")
      writer.integer(instance)
    }
    if let device {
      writer.key("device")
      writer.integer(device)
    }
    if let app {
      writer.key("app")
      writer.integer(app)
    }
    writer.endObject()
  }

  fileprivate init(_ node: JSONNode) throws(DomainError) {
    try node.requireObject()
    self.init(
      instance: try node.countIfPresent("instance"), device: try node.countIfPresent("device"),
      app: try node.countIfPresent("app"))
  }
}

extension JSONNode {
  fileprivate func countIfPresent(_ key: StaticString) throws(DomainError) -> Int? {
    guard let node = optional(key) else { return nil }
    return try node.count()
  }
}

extension PolicyReference {
  func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("version", version)
    writer.member("hash", hash)
    writer.endObject()
  }

  init(_ node: JSONNode) throws(DomainError) {
    try node.requireObject()
    self.init(version: try node.text("version"), hash: try node.text("hash"))
  }
}
