extension LogRecord.Content {
  /// Checks that names and lists are within the bounds of public records. Intake accepts nothing beyond them, so a
  /// record that exceeds one was not written by this program, and `rouse audit` would refuse the decisions that follow
  /// from it.
  ///
  /// - Throws: `BinaryError.corrupt`, which names the field and the bound.
  func requireBounds() throws(BinaryError) {
    switch self {
    case .event(let event):
      try Self.name(event.id, "an event id")
      try Self.name(event.source, "an event source")
      try Self.name(event.type, "an event type")
      try Self.name(event.subject, "an event subject")
      try Self.count(event.fields.count, max: DomainBounds.eventFieldsMax, "fields")
    case .registration(let registration): try Self.check(registration)
    case .forget(let device): try Self.device(device)
    case .signal(let signal):
      try Self.device(signal.device)
      try Self.name(signal.id, "a signal id")
    case .claims(let claims):
      try Self.count(claims.count, max: TokenClaim.perRecordMax, "claims")
      for claim in claims {
        try Self.device(claim.device)
        try Self.name(claim.app, "an app")
        // A device has two tokens of its own, one for each instance, and one for each push-to-start token.
        try Self.count(claim.tokens.count, max: 2 + 2 * DomainBounds.instancesPerDeviceMax, "tokens")
        for token in claim.tokens { try Self.name(token, "a token", bytesMax: DomainBounds.tokenBytesMax) }
      }
    case .policy, .tick: break
    }
  }

  private static func check(_ registration: Registration) throws(BinaryError) {
    try device(registration.device)
    try name(registration.app, "an app")
    try count(
      registration.widgets.count + registration.controls.count + registration.activities.count,
      max: DomainBounds.instancesPerDeviceMax, "widgets, controls and activities")
    try count(registration.pushToStart.count, max: DomainBounds.instancesPerDeviceMax, "push-to-start tokens")
    for widget in registration.widgets { try instance(widget.id, widget.kind, widget.interests) }
    for control in registration.controls { try instance(control.id, control.kind, control.interests) }
    for activity in registration.activities { try instance(activity.id, activity.kind, activity.interests) }
    for starter in registration.pushToStart { try instance(starter.kind, starter.kind, starter.interests) }
  }

  private static func instance(_ id: Identifier, _ kind: Identifier, _ interests: [Identifier]) throws(BinaryError) {
    try name(id, "an instance id")
    try name(kind, "a kind")
    try count(interests.count, max: DomainBounds.interestsPerInstanceMax, "interests")
    for interest in interests { try name(interest, "an interest") }
  }

  private static func device(_ text: Identifier) throws(BinaryError) {
    try name(text, "a device", bytesMax: DomainBounds.plannedDeviceBytesMax)
  }

  private static func name(
    _ text: Identifier, _ what: StaticString, bytesMax: Int = DomainBounds.nameBytesMax
  ) throws(BinaryError) {
    guard (1...bytesMax).contains(text.utf8.count) else {
      throw .corrupt(offset: 1, what: "\(what) of 1 to \(bytesMax) bytes")
    }
  }

  private static func count(_ count: Int, max: Int, _ what: StaticString) throws(BinaryError) {
    guard count <= max else { throw .corrupt(offset: 1, what: "at most \(max) \(what)") }
  }
}
