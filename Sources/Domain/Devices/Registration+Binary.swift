/// Public, because the state of a planner keeps registrations in the same form.
extension Registration {
  public func encode(into writer: inout BinaryWriter) {
    writer.string(device)
    writer.string(app)
    writer.string(environment.rawValue)
    writer.string(platform)
    writer.varint(UInt64(osVersion.major))
    writer.varint(UInt64(osVersion.minor))
    writer.string(timeZone)
    writer.bool(developerMode)
    writer.optionalString(tokens.widgets)
    writer.optionalString(tokens.background)
    writer.list(widgets) { $0.encode(into: &$1) }
    writer.list(controls) { $0.encode(into: &$1) }
    writer.list(activities) { $0.encode(into: &$1) }
    writer.list(pushToStart) { $0.encode(into: &$1) }
    writer.timestamp(updatedAt)
  }

  public init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init(
      device: try reader.string("a device"), app: try reader.string("an app"),
      environment: try reader.choice("an environment"), platform: try reader.string("a platform"),
      osVersion: OSVersion(
        major: try reader.integer("a major version"),
        minor: try reader.integer("a minor version")),
      timeZone: try reader.string("a time zone"), developerMode: try reader.bool("developer mode"),
      tokens: Tokens(
        widgets: try reader.optionalString("a widget token"),
        background: try reader.optionalString("a background token")),
      widgets: try reader.list { (r) throws(BinaryError) in try Widget(from: &r) },
      controls: try reader.list { (r) throws(BinaryError) in try Control(from: &r) },
      activities: try reader.list { (r) throws(BinaryError) in try Activity(from: &r) },
      pushToStart: try reader.list { (r) throws(BinaryError) in try PushToStart(from: &r) },
      updatedAt: try reader.timestamp("updatedAt"))
  }
}

extension Registration.Widget {
  fileprivate func encode(into writer: inout BinaryWriter) {
    writer.string(id)
    writer.string(kind)
    writer.optionalString(family)
    writer.bool(pushEnabled)
    writer.list(interests) { $1.string($0) }
    writer.bool(nextReload != nil)
    if let nextReload { writer.timestamp(nextReload) }
  }

  fileprivate init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init(
      id: try reader.string("a widget id"), kind: try reader.string("a widget kind"),
      family: try reader.optionalString("a widget family"), pushEnabled: try reader.bool("pushEnabled"),
      interests: try reader.interests(),
      nextReload: try reader.bool("a nextReload flag") ? try reader.timestamp("nextReload") : nil)
  }
}

extension Registration.Control {
  fileprivate func encode(into writer: inout BinaryWriter) {
    writer.string(id)
    writer.string(kind)
    writer.string(token)
    writer.list(interests) { $1.string($0) }
  }

  fileprivate init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init(
      id: try reader.string("a control id"), kind: try reader.string("a control kind"),
      token: try reader.string("a control token"), interests: try reader.interests())
  }
}

extension Registration.Activity {
  fileprivate func encode(into writer: inout BinaryWriter) {
    writer.string(id)
    writer.string(kind)
    switch address {
    case .token(let token):
      writer.uint8(0)
      writer.string(token)
    case .channel(let channel):
      writer.uint8(1)
      writer.string(channel)
    }
    writer.list(interests) { $1.string($0) }
    writer.timestamp(startedAt)
    writer.bool(frequentPushes)
  }

  fileprivate init(from reader: inout BinaryReader) throws(BinaryError) {
    let id = try reader.string("an activity id")
    let kind = try reader.string("an activity kind")
    let isChannel = try reader.bool("an address tag")
    let address = try reader.string("an activity address")
    self.init(
      id: id, kind: kind, address: isChannel ? .channel(address) : .token(address),
      interests: try reader.interests(), startedAt: try reader.timestamp("startedAt"),
      frequentPushes: try reader.bool("frequentPushes"))
  }
}

extension Registration.PushToStart {
  fileprivate func encode(into writer: inout BinaryWriter) {
    writer.string(kind)
    writer.string(token)
    writer.list(interests) { $1.string($0) }
  }

  fileprivate init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init(
      kind: try reader.string("an activity kind"), token: try reader.string("a push-to-start token"),
      interests: try reader.interests())
  }
}

extension BinaryReader {
  fileprivate mutating func interests() throws(BinaryError) -> [String] {
    try list { (reader) throws(BinaryError) in try reader.string("an interest") }
  }
}
