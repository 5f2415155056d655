/// The format of `rouse.log`: version, content tag, origin, content. A newer program reads every older version; an older
/// program refuses a newer one by name.
extension LogRecord {
  /// Written by this release.
  public static let formatVersion: UInt8 = 1
  /// Releases write versions one after the other; a first byte further ahead is no version but somebody else's bytes, such
  /// as JSON, which begins with 0x7b or white space (from 0x09 on).
  static let formatVersionMax: UInt8 = 8

  /// Appends the record to `bytes`.
  public func encode(into bytes: inout [UInt8]) {
    var writer = BinaryWriter(appendingTo: bytes)
    bytes = []
    encode(into: &writer)
    bytes = writer.bytes
  }

  public func encode(into writer: inout BinaryWriter) {
    writer.uint8(LogRecord.formatVersion)
    writer.uint8(tag.rawValue)
    writer.bool(origin != nil)
    if let origin {
      writer.string(origin.topic)
      writer.zigzag(Int64(origin.partition))
      writer.zigzag(origin.offset)
    }
    switch content {
    case .event(let event): event.encode(into: &writer)
    case .registration(let registration): registration.encode(into: &writer)
    case .forget(let device): writer.string(device)
    case .signal(let signal): signal.encode(into: &writer)
    case .policy(let document): writer.string(document)
    case .tick: break
    }
  }

  public init(bytes: [UInt8]) throws(BinaryError) {
    let (origin, content) = try Self.parts(of: bytes)
    self.init(origin: origin, content: content)
  }

  /// What a record is made of, for whoever hands the content on: taken out of a record it would be copied.
  public static func parts(of bytes: [UInt8]) throws(BinaryError) -> (origin: Origin?, content: Content) {
    var reader = BinaryReader(bytes)
    let version = try reader.uint8("a format version")
    guard (1...LogRecord.formatVersionMax).contains(version) else {
      throw .corrupt(offset: 0, what: "a format version from 1 to \(LogRecord.formatVersionMax)")
    }
    guard version <= LogRecord.formatVersion else {
      throw .newerVersion(found: version, newestKnown: LogRecord.formatVersion)
    }
    guard let tag = Tag(rawValue: try reader.uint8("a content tag")) else {
      throw .corrupt(offset: 1, what: "a content tag from 1 to \(Tag.allCases.count)")
    }
    let origin = try reader.bool("an origin flag") ? try Origin(from: &reader) : nil
    let content: Content
    switch tag {
    case .event: content = .event(try DomainEvent(from: &reader))
    case .registration: content = .registration(try Registration(from: &reader))
    case .forget: content = .forget(device: try reader.string("a device"))
    case .signal: content = .signal(try Signal(from: &reader))
    case .policy: content = .policy(document: try reader.string("a policy document"))
    case .tick: content = .tick
    }
    try reader.end()
    return (origin, content)
  }

  /// Where the type and the subject of an event stand in a log record, found without reading the rest; nil for any other
  /// record and for bytes that are none.
  public static func eventPlaces(in bytes: [UInt8]) -> (type: Range<Int>, subject: Range<Int>)? {
    guard bytes.count > 2, bytes[0] == formatVersion, bytes[1] == Tag.event.rawValue else { return nil }
    var reader = BinaryReader(bytes, in: 2..<bytes.count)
    do throws(BinaryError) {
      if try reader.bool() {
        _ = try reader.blobPlace()
        _ = try reader.zigzag()
        _ = try reader.zigzag()
      }
      // Id and source come first.
      for _ in 0..<2 { _ = try reader.blobPlace() }
      return (try reader.blobPlace(), try reader.blobPlace())
    } catch {
      // Whoever plans the record says what is wrong with it.
      return nil
    }
  }

  private enum Tag: UInt8, CaseIterable {
    case event = 1
    case registration, forget, signal, policy, tick
  }

  private var tag: Tag {
    switch content {
    case .event: .event
    case .registration: .registration
    case .forget: .forget
    case .signal: .signal
    case .policy: .policy
    case .tick: .tick
    }
  }
}

extension Origin {
  fileprivate init(from reader: inout BinaryReader) throws(BinaryError) {
    let topic = try reader.string("an origin topic")
    let start = reader.offset
    guard let partition = Int32(exactly: try reader.zigzag("an origin partition")) else {
      throw .corrupt(offset: start, what: "an origin partition of 32 bits")
    }
    self.init(topic: topic, partition: partition, offset: try reader.zigzag("an origin offset"))
  }
}
