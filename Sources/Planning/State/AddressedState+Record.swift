import Domain

extension AddressedState {
  /// The first byte of the record: the flags, and a bit for each instant that is present.
  struct RecordBits: OptionSet {
    var rawValue: UInt8
    static let isChannel = RecordBits(rawValue: 1)
    static let tokenDead = RecordBits(rawValue: 2)
    static let frequentPushes = RecordBits(rawValue: 4)
    static let ended = RecordBits(rawValue: 8)
    static let tat = RecordBits(rawValue: 16)
    static let timestamp = RecordBits(rawValue: 32)
    static let startedAt = RecordBits(rawValue: 64)
    static let lastEventAt = RecordBits(rawValue: 128)
  }

  private var recordBits: RecordBits {
    var bits: RecordBits = []
    for (part, here) in [
      (.isChannel, isChannel), (.tokenDead, tokenDead), (.frequentPushes, frequentPushes), (.ended, ended),
      (.tat, !rate.isFull), (.timestamp, timestamp != 0), (.startedAt, startedAt.microseconds != 0),
      (.lastEventAt, lastEventAt.microseconds != 0),
    ] as [(RecordBits, Bool)] where here { bits.insert(part) }
    return bits
  }

  /// Writes the state as part of its instance's record.
  /// - Parameters:
  ///   - base: The instant to which the instants of the state are relative, in µs.
  ///   - writer: The record.
  func write(since base: Int64, to writer: inout BinaryWriter) {
    let bits = recordBits
    writer.uint8(bits.rawValue)
    writer.blob(TokenPair(widgets: token, background: nil).bytes)
    if bits.contains(.tat) { writer.zigzag(rate.tat.microseconds &- base) }
    if bits.contains(.timestamp) { writer.zigzag(timestamp &- base / 1_000_000) }
    if bits.contains(.startedAt) { writer.zigzag(startedAt.microseconds &- base) }
    if bits.contains(.lastEventAt) { writer.zigzag(lastEventAt.microseconds &- base) }
    writer.count(started.count)
    for start in started {
      writer.int64(Int64(bitPattern: start.subject))
      writer.zigzag(start.at.microseconds &- base)
      writer.bool(start.isRegistered)
      writer.string(start.name.text)
    }
  }

  /// Reads what `write` wrote.
  /// - Parameters:
  ///   - base: The `base` that `write` was given.
  ///   - reader: The record.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  init(since base: Int64, from reader: inout BinaryReader) throws(BinaryError) {
    let bits = RecordBits(rawValue: try reader.uint8("flags"))
    isChannel = bits.contains(.isChannel)
    tokenDead = bits.contains(.tokenDead)
    frequentPushes = bits.contains(.frequentPushes)
    ended = bits.contains(.ended)
    let tokens = try reader.blob("a token")
    guard TokenPair.isWellFormed(tokens.span) else { throw .corrupt(offset: reader.offset, what: "a token") }
    token = TokenPair(bytes: tokens).widgets ?? ""
    if bits.contains(.tat) { rate = RateState(tat: try reader.instant("a TAT", after: base)) }
    if bits.contains(.timestamp) { timestamp = try reader.zigzag("a timestamp") &+ base / 1_000_000 }
    // Each push adds a second to it at least.
    guard timestamp <= .max / 2 else { throw .corrupt(offset: reader.offset, what: "a timestamp") }
    if bits.contains(.startedAt) { startedAt = try reader.instant("an instant", after: base) }
    if bits.contains(.lastEventAt) { lastEventAt = try reader.instant("an instant", after: base) }
    for _ in 0..<(try reader.count("starts")) {
      let subject = UInt64(bitPattern: try reader.int64("a hash"))
      let at = try reader.instant("an instant", after: base)
      let isRegistered = try reader.bool("whether it is registered")
      let name = Identifier(try reader.string("a subject"))
      started.append(StartedSubject(subject: subject, name: name, at: at, isRegistered: isRegistered))
    }
  }
}

extension BinaryReader {
  /// Reads an instant that was written relative to another one.
  /// - Parameters:
  ///   - what: The name of the instant, for errors.
  ///   - base: The other instant, in µs.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func instant(_ what: StaticString, after base: Int64) throws(BinaryError) -> Timestamp {
    Timestamp(microseconds: try zigzag(what) &+ base)
  }
}
