public import JSON

/// The value of a record of `rouse.devices`.
extension Registration {
  /// Reads a registration. Unknown members are ignored.
  /// - Parameters:
  ///   - node: the JSON object.
  ///   - timeZoneExists: whether an IANA time zone id is in the database.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  public init(_ node: JSONNode, timeZoneExists: (String) -> Bool) throws(DomainError) {
    try node.requireObject()
    self.init(
      device: try node.identifier("device"), app: try node.identifier("app"),
      environment: try node.choice("environment"),
      platform: try node.text("platform"), osVersion: try OSVersion(node.require("osVersion", OSVersion.expectation)),
      timeZone: try Registration.timeZone(node, timeZoneExists),
      developerMode: try node.flag("developerMode", default: false), tokens: try Tokens(node.optional("tokens")),
      widgets: try node.listIfPresent("widgets", max: DomainBounds.instancesPerDeviceMax) {
        (n) throws(DomainError) in try Widget(n)
      },
      controls: try node.listIfPresent("controls", max: DomainBounds.instancesPerDeviceMax) {
        (n) throws(DomainError) in try Control(n)
      },
      activities: try node.listIfPresent("activities", max: DomainBounds.instancesPerDeviceMax) {
        (n) throws(DomainError) in try Activity(n)
      },
      pushToStart: try node.listIfPresent("pushToStart", max: DomainBounds.instancesPerDeviceMax) {
        (n) throws(DomainError) in try PushToStart(n)
      },
      updatedAt: try node.instant("updatedAt"))
    try checkInstances()
  }

  private static func timeZone(_ node: JSONNode, _ exists: (String) -> Bool) throws(DomainError) -> String {
    let member = try node.require("timeZone", "an IANA time zone such as \"Europe/Rome\"")
    let name = try member.text()
    guard exists(name) else {
      var error = DomainError(member.wrongValue("an IANA time zone such as \"Europe/Rome\""))
      error.code = .unknownTimeZone
      throw error
    }
    return name
  }

  /// Checks that ids are unique among all instances of the device, and that there are not too many instances.
  private func checkInstances() throws(DomainError) {
    let count = widgets.count + controls.count + activities.count
    if count > DomainBounds.instancesPerDeviceMax {
      throw DomainError(
        .outOfBounds, path: "$",
        message:
          "expected at most \(DomainBounds.instancesPerDeviceMax) widgets, controls and activities, found \(count)")
    }
    var ids: [Identifier] = []
    ids.reserveCapacity(count)
    func add(_ id: Identifier, _ list: String, _ index: Int) throws(DomainError) {
      if ids.contains(id) {
        throw DomainError(
          .duplicateInstance, path: "$.\(list)[\(index)].id",
          message: "expected an id that no other instance of the device has, found \"\(id)\" again")
      }
      ids.append(id)
    }
    for (index, widget) in widgets.enumerated() { try add(widget.id, "widgets", index) }
    for (index, control) in controls.enumerated() { try add(control.id, "controls", index) }
    for (index, activity) in activities.enumerated() { try add(activity.id, "activities", index) }
  }

  /// Writes the registration as a JSON object. Members with their default value are left out.
  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("device", device)
    writer.member("app", app)
    writer.member("environment", environment.rawValue)
    writer.member("platform", platform)
    writer.member("osVersion", osVersion.description)
    writer.member("timeZone", timeZone)
    if developerMode {
      writer.key("developerMode")
      writer.bool(true)
    }
    if tokens != Tokens() {
      writer.key("tokens")
      writer.beginObject()
      writer.member("widgets", tokens.widgets)
      writer.member("background", tokens.background)
      writer.endObject()
    }
    writer.objects("widgets", widgets) { $0.encode(to: &$1) }
    writer.objects("controls", controls) { $0.encode(to: &$1) }
    writer.objects("activities", activities) { $0.encode(to: &$1) }
    writer.objects("pushToStart", pushToStart) { $0.encode(to: &$1) }
    writer.timestamp("updatedAt", updatedAt)
    writer.endObject()
  }
}

extension OSVersion {
  static var expectation: String { "a version such as \"26.1\"" }

  fileprivate init(_ node: JSONNode) throws(DomainError) {
    guard node.kind == .string else { throw DomainError(node.wrongType(OSVersion.expectation)) }
    guard let version = OSVersion(node.stringIfAny ?? "") else {
      throw DomainError(node.wrongValue(OSVersion.expectation))
    }
    self = version
  }
}

extension JSONNode {
  fileprivate func interests() throws(DomainError) -> [Identifier] {
    try list("interests", max: DomainBounds.interestsPerInstanceMax) { (node) throws(DomainError) in
      try node.identifier()
    }
  }

  /// Returns this value, a push token in hexadecimal digits, as APNs wants it in its paths.
  fileprivate func token() throws(DomainError) -> String {
    try checkText(bytesMax: DomainBounds.tokenBytesMax)
    let isHexadecimal = withUTF8 { bytes in
      for at in 0..<bytes.count where !isHexadecimalDigit(bytes[at]) { return false }
      return true
    }
    guard isHexadecimal else { throw DomainError(wrongValue("a token in hexadecimal digits")) }
    return try text(bytesMax: DomainBounds.tokenBytesMax)
  }

  fileprivate func token(_ key: StaticString) throws(DomainError) -> String {
    try require(key, "a token in hexadecimal digits").token()
  }

  fileprivate func tokenIfPresent(_ key: StaticString) throws(DomainError) -> String? {
    guard let node = optional(key) else { return nil }
    return try node.token()
  }
}

private func isHexadecimalDigit(_ byte: UInt8) -> Bool {
  byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
}

extension Registration.Tokens {
  fileprivate init(_ node: JSONNode?) throws(DomainError) {
    self.init()
    guard let node else { return }
    try node.requireObject()
    widgets = try node.tokenIfPresent("widgets")
    background = try node.tokenIfPresent("background")
  }
}

extension Registration.Widget {
  fileprivate init(_ node: JSONNode) throws(DomainError) {
    self.init(
      id: try node.identifier("id"), kind: try node.identifier("kind"), family: try node.textIfPresent("family"),
      pushEnabled: try node.flag("pushEnabled", default: true), interests: try node.interests(),
      nextReload: try node.instantIfPresent("nextReload"))
  }

  fileprivate func encode(to writer: inout JSONWriter) {
    writer.member("id", id)
    writer.member("kind", kind)
    writer.member("family", family)
    if !pushEnabled {
      writer.key("pushEnabled")
      writer.bool(false)
    }
    writer.list("interests", interests)
    if let nextReload { writer.timestamp("nextReload", nextReload) }
  }
}

extension Registration.Control {
  fileprivate init(_ node: JSONNode) throws(DomainError) {
    self.init(
      id: try node.identifier("id"), kind: try node.identifier("kind"), token: try node.token("token"),
      interests: try node.interests())
  }

  fileprivate func encode(to writer: inout JSONWriter) {
    writer.member("id", id)
    writer.member("kind", kind)
    writer.member("token", token)
    writer.list("interests", interests)
  }
}

extension Registration.Activity {
  fileprivate init(_ node: JSONNode) throws(DomainError) {
    self.init(
      id: try node.identifier("id"), kind: try node.identifier("kind"), address: try Address(node),
      interests: try node.interests(), startedAt: try node.instant("startedAt"),
      frequentPushes: try node.flag("frequentPushes", default: false))
  }

  fileprivate func encode(to writer: inout JSONWriter) {
    writer.member("id", id)
    writer.member("kind", kind)
    switch address {
    case .token(let token): writer.member("token", token)
    case .channel(let channel): writer.member("channel", channel)
    }
    writer.list("interests", interests)
    writer.timestamp("startedAt", startedAt)
    if frequentPushes {
      writer.key("frequentPushes")
      writer.bool(true)
    }
  }
}

extension Registration.Activity.Address {
  fileprivate init(_ node: JSONNode) throws(DomainError) {
    switch (node.optional("token"), node.optional("channel")) {
    case (let token?, nil): self = .token(try token.token())
    case (nil, let channel?): self = .channel(try channel.identifier(bytesMax: DomainBounds.tokenBytesMax))
    case (nil, nil): throw DomainError(node.missing("token", expected: "either a token or a channel"))
    case (_?, let channel?): throw DomainError(channel.wrongValue("either a token or a channel, not both"))
    }
  }
}

extension Registration.PushToStart {
  fileprivate init(_ node: JSONNode) throws(DomainError) {
    self.init(kind: try node.identifier("kind"), token: try node.token("token"), interests: try node.interests())
  }

  fileprivate func encode(to writer: inout JSONWriter) {
    writer.member("kind", kind)
    writer.member("token", token)
    writer.list("interests", interests)
  }
}

extension JSONWriter {
  /// Writes a member that is an array of objects. An empty array is left out.
  fileprivate mutating func objects<Element>(
    _ key: StaticString, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
  ) {
    if elements.isEmpty { return }
    self.key(key)
    beginArray()
    for element in elements {
      beginObject()
      write(element, &self)
      endObject()
    }
    endArray()
  }
}
