public import JSON

/// The value of a record of `rouse.devices`.
extension Registration: JSONFields {
  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("device", &device)
    try coder.text("app", &app)
    try coder.choice("environment", &environment)
    try coder.text("platform", &platform, bytesMax: DomainBounds.nameBytesMax)
    try coder.version("osVersion", &osVersion)
    try coder.text("timeZone", &timeZone, bytesMax: DomainBounds.nameBytesMax, expected: Self.timeZoneExpectation)
    try coder.flag("developerMode", &developerMode, default: false)
    try coder.optionalObject("tokens", &tokens)
    try coder.optionalObjects("widgets", &widgets, max: DomainBounds.instancesPerDeviceMax)
    try coder.optionalObjects("controls", &controls, max: DomainBounds.instancesPerDeviceMax)
    try coder.optionalObjects("activities", &activities, max: DomainBounds.instancesPerDeviceMax)
    try coder.optionalObjects("pushToStart", &pushToStart, max: DomainBounds.instancesPerDeviceMax)
    try coder.instant("updatedAt", &updatedAt)
  }

  private static let timeZoneExpectation: StaticString = "an IANA time zone such as \"Europe/Rome\""

  /// Writes the registration as a JSON object. Members with their default value are left out.
  public func encode(to writer: inout JSONWriter) { write(to: &writer) }

  /// Reads a registration. Unknown members are ignored.
  /// - Parameters:
  ///   - node: the JSON object.
  ///   - timeZoneExists: whether an IANA time zone id is in the database.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  public init(_ node: JSONNode, timeZoneExists: (String) -> Bool) throws(DomainError) {
    try self.init(members: node)
    guard timeZoneExists(timeZone) else {
      let member = try node.require("timeZone", "\(Self.timeZoneExpectation)")
      var error = DomainError(member.wrongValue("\(Self.timeZoneExpectation)"))
      error.code = .unknownTimeZone
      throw error
    }
    try checkInstances()
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
}

extension Registration.Tokens: JSONFields {
  /// An empty value that a decoder fills in.
  package static var blank: Registration.Tokens { .init() }

  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.token("widgets", &widgets)
    try coder.token("background", &background)
  }
}

extension Registration.Widget: JSONFields {
  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id)
    try coder.text("kind", &kind)
    try coder.text("family", &family)
    try coder.flag("pushEnabled", &pushEnabled, default: true)
    try coder.texts("interests", &interests, max: DomainBounds.interestsPerInstanceMax)
    try coder.instant("nextReload", &nextReload)
  }
}

extension Registration.Control: JSONFields {
  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id)
    try coder.text("kind", &kind)
    try coder.token("token", &token)
    try coder.texts("interests", &interests, max: DomainBounds.interestsPerInstanceMax)
  }
}

extension Registration.Activity: JSONFields {
  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id)
    try coder.text("kind", &kind)
    try coder.target(&address)
    try coder.texts("interests", &interests, max: DomainBounds.interestsPerInstanceMax)
    try coder.instant("startedAt", &startedAt)
    try coder.flag("frequentPushes", &frequentPushes, default: false)
  }
}

extension Registration.PushToStart: JSONFields {
  /// Encodes or decodes each member, in the order of the document.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("kind", &kind)
    try coder.token("token", &token)
    try coder.texts("interests", &interests, max: DomainBounds.interestsPerInstanceMax)
  }
}
