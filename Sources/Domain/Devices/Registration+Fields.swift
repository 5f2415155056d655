/// The binary form of registrations, in `rouse.log` and in the planner's state.
extension Registration: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: Registration {
    Registration(
      device: "", app: "", environment: .production, platform: "", osVersion: OSVersion(major: 0), timeZone: "",
      updatedAt: Timestamp(microseconds: 0))
  }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&device, "a device")
    try coder.string(&app, "an app")
    try coder.choice(&environment, "an environment")
    try coder.string(&platform, "a platform")
    try coder.varint(&osVersion.major, "a major version")
    try coder.varint(&osVersion.minor, "a minor version")
    try coder.string(&timeZone, "a time zone")
    try coder.bool(&developerMode, "developer mode")
    try coder.string(&tokens.widgets, "a widget token")
    try coder.string(&tokens.background, "a background token")
    try coder.list(&widgets)
    try coder.list(&controls)
    try coder.list(&activities)
    try coder.list(&pushToStart)
    try coder.timestamp(&updatedAt, "updatedAt")
  }

  /// Appends the registration to a record.
  public func encode(into writer: inout BinaryWriter) {
    var registration = self
    registration.fields(&writer)
  }

  /// Reads a registration from a record.
  /// - Throws: `BinaryError` if the bytes are damaged.
  public init(from reader: inout BinaryReader) throws(BinaryError) {
    self = .blank
    try fields(&reader)
  }
}

extension Registration.Widget: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: Registration.Widget { .init(id: "", kind: "", interests: []) }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&id, "a widget id")
    try coder.string(&kind, "a widget kind")
    try coder.string(&family, "a widget family")
    try coder.bool(&pushEnabled, "pushEnabled")
    try coder.strings(&interests, "an interest")
    var hasReload = nextReload != nil
    try coder.bool(&hasReload, "a nextReload flag")
    guard hasReload else {
      nextReload = nil
      return
    }
    var reload = nextReload ?? Timestamp(microseconds: 0)
    try coder.timestamp(&reload, "nextReload")
    nextReload = reload
  }
}

extension Registration.Control: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: Registration.Control { .init(id: "", kind: "", token: "", interests: []) }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&id, "a control id")
    try coder.string(&kind, "a control kind")
    try coder.string(&token, "a control token")
    try coder.strings(&interests, "an interest")
  }
}

extension Registration.Activity: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: Registration.Activity {
    .init(id: "", kind: "", address: .token(""), interests: [], startedAt: Timestamp(microseconds: 0))
  }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&id, "an activity id")
    try coder.string(&kind, "an activity kind")
    try address.fields(&coder)
    try coder.strings(&interests, "an interest")
    try coder.timestamp(&startedAt, "startedAt")
    try coder.bool(&frequentPushes, "frequentPushes")
  }
}

extension Registration.PushToStart: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: Registration.PushToStart { .init(kind: "", token: "", interests: []) }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&kind, "an activity kind")
    try coder.string(&token, "a push-to-start token")
    try coder.strings(&interests, "an interest")
  }
}
