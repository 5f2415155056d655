/// The format of `rouse.log`: the format version, the tag of the content, the origin, and the content.
extension LogRecord {
  /// The format version that this program writes.
  public static let formatVersion: UInt8 = 1
  /// The largest first byte that counts as a format version. Versions rise one by one, so a larger first byte shows that the
  /// bytes are no log record: JSON, for one, begins with 0x7b or white space, from 0x09 on.
  static let formatVersionMax: UInt8 = 8

  /// Appends the record to `bytes`.
  public func encode(into bytes: inout [UInt8]) {
    var writer = BinaryWriter(appendingTo: bytes)
    bytes = []
    encode(into: &writer)
    bytes = writer.bytes
  }

  /// Appends the record to what was written before.
  public func encode(into writer: inout BinaryWriter) {
    writer.uint8(Self.formatVersion)
    var (origin, content) = (origin, content)
    Self.fields(&origin, &content, &writer)
  }

  /// Reads a record.
  /// - Throws: `BinaryError.newerVersion` if a newer program wrote the record; another `BinaryError` if it is damaged.
  public init(bytes: [UInt8]) throws(BinaryError) {
    let (origin, content) = try Self.parts(of: bytes)
    self.init(origin: origin, content: content)
  }

  /// Reads the parts of a record. Avoids the copy that reading `content` from a `LogRecord` makes.
  /// - Parameter bytes: The value of the record.
  /// - Throws: `BinaryError.newerVersion` if a newer program wrote the record; another `BinaryError` if it is damaged.
  public static func parts(of bytes: [UInt8]) throws(BinaryError) -> (origin: Origin?, content: Content) {
    var texts: RecurringTexts?
    return try parts(of: bytes, recurring: &texts)
  }

  /// Reads the parts of a record, for a caller that reads many.
  /// - Parameters:
  ///   - bytes: The value of the record.
  ///   - texts: The texts of the records that were read before. Receives those of this one. Nil makes every text anew.
  /// - Throws: As `parts(of:)` does.
  public static func parts(
    of bytes: [UInt8], recurring texts: inout RecurringTexts?
  ) throws(BinaryError) -> (origin: Origin?, content: Content) {
    var reader = BinaryReader(bytes)
    // Lent to the reader: with a second owner, each new text would copy the table.
    swap(&reader.recurring, &texts)
    defer { swap(&reader.recurring, &texts) }
    let version = try reader.uint8("a format version")
    guard (1...formatVersionMax).contains(version) else {
      throw .corrupt(offset: 0, what: "a format version from 1 to \(formatVersionMax)")
    }
    guard version <= formatVersion else { throw .newerVersion(found: version, newestKnown: formatVersion) }
    var origin: Origin?
    var content = Content.tick
    try fields(&origin, &content, &reader)
    try reader.end()
    if let origin, origin.partition < 0 || origin.offset < 0 {
      throw .corrupt(offset: 2, what: "an origin with a partition and an offset from 0 on")
    }
    try content.requireBounds()
    return (origin, consume content)
  }

  /// Encodes or decodes each field after the format version.
  private static func fields<Coder: FieldCoder>(
    _ origin: inout Origin?, _ content: inout Content, _ coder: inout Coder
  ) throws(Coder.Failure) {
    var tag = content.tag
    try coder.tag(&tag, "a content tag")
    try coder.optional(&origin, "an origin flag")
    switch tag {
    case .event:
      var event = if case .event(let event) = content { event } else { DomainEvent.blank }
      try event.fields(&coder)
      if Coder.reads { content = .event(consume event) }
    case .registration:
      var registration = if case .registration(let registration) = content { registration } else { Registration.blank }
      try registration.fields(&coder)
      if Coder.reads { content = .registration(consume registration) }
    case .forget:
      var device = if case .forget(let device) = content { device } else { "" as Identifier }
      try coder.string(&device, "a device")
      if Coder.reads { content = .forget(device: device) }
    case .signal:
      var signal = if case .signal(let signal) = content { signal } else { Signal.blank }
      try signal.fields(&coder)
      if Coder.reads { content = .signal(consume signal) }
    case .policy:
      var document = if case .policy(let document) = content { document } else { "" }
      try coder.string(&document, "a policy document")
      if Coder.reads { content = .policy(document: document) }
    case .tick: if Coder.reads { content = .tick }
    case .claims:
      var claims = if case .claims(let claims) = content { claims } else { [TokenClaim]() }
      try coder.list(&claims)
      if Coder.reads { content = .claims(claims) }
    }
  }

  /// Whether bytes are a log record of a known format that holds a policy. Looks at two bytes, so a search through many records is quick.
  public static func isPolicy(_ bytes: [UInt8]) -> Bool {
    bytes.count > 2 && (1...formatVersion).contains(bytes[0]) && bytes[1] == Content.Tag.policy.rawValue
  }

  /// Whether bytes are a log record of a known format that holds an event. Looks at two bytes, as `isPolicy` does.
  package static func isEvent(_ bytes: [UInt8]) -> Bool {
    bytes.count > 2 && (1...formatVersion).contains(bytes[0]) && bytes[1] == Content.Tag.event.rawValue
  }

  /// Finds the type and the subject of an event in the bytes of a log record, without reading the rest.
  /// - Returns: their places in `bytes`; nil for a record that is no event and for bytes that are no record.
  public static func eventPlaces(in bytes: [UInt8]) -> (type: Range<Int>, subject: Range<Int>)? {
    guard bytes.count > 2, bytes[0] == formatVersion, bytes[1] == Content.Tag.event.rawValue else { return nil }
    var reader = BinaryReader(bytes, in: 2..<bytes.count)
    do throws(BinaryError) {
      // The origin, as `Origin.fields` lists it.
      if try reader.bool() {
        _ = try reader.blobPlace()
        for _ in 0..<3 { _ = try reader.zigzag() }
      }
      // Id and source come before type and subject, as `DomainEvent.fields` lists them.
      for _ in 0..<2 { _ = try reader.blobPlace() }
      return (try reader.blobPlace(), try reader.blobPlace())
    } catch {
      // The planner reports the damage when it reads the whole record.
      return nil
    }
  }
}

extension LogRecord.Content {
  fileprivate enum Tag: UInt8, CaseIterable {
    case event = 1
    case registration, forget, signal, policy, tick, claims
  }

  fileprivate var tag: Tag {
    switch self {
    case .event: .event
    case .registration: .registration
    case .forget: .forget
    case .signal: .signal
    case .policy: .policy
    case .tick: .tick
    case .claims: .claims
    }
  }
}

extension Origin: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: Origin { Origin(topic: "", partition: 0, offset: 0) }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&topic, "an origin topic")
    try coder.zigzag(&partition, "an origin partition")
    try coder.zigzag(&offset, "an origin offset")
    try coder.zigzag(&generation, "an origin generation")
  }
}
