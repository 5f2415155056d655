import Domain

/// Appends decisions to the bytes of one page (`PageFormat`), without allocating for each.
struct PageWriter {
  private var out = BinaryWriter()
  /// The number of lines.
  private(set) var lines = 0
  /// The first and the last time of the lines.
  private(set) var times: (min: Int64, max: Int64) = (.max, .min)
  private var previous = DecisionLine(.blank)
  private var id = RecordId(partition: 0, offset: 0, ordinal: 0)
  /// The numbers of the words of `previous`.
  private var kind: Int64 = 0
  private var policy: (version: Int64, hash: Int64) = (0, 0)

  /// Whether the last line has another event than the line before.
  private(set) var hasNewEvent = false
  /// The number of the kind of the last line.
  var lastKind: Int64 { kind }
  /// The bytes of the page.
  var bytes: [UInt8] { out.bytes }
  /// Whether the page takes no more lines.
  var isFull: Bool { lines >= PageFormat.linesMax || byteCount >= PageFormat.bytesMax }
  /// The number of bytes.
  var byteCount: Int { out.bytes.count }

  /// Begins a new page.
  mutating func begin() {
    out.reset()
    out.uint8(PageFormat.version)
    lines = 0
    times = (.max, .min)
    previous = DecisionLine(.blank)
    id = RecordId(partition: 0, offset: 0, ordinal: 0)
    kind = 0
    policy = (0, 0)
  }

  /// Continues a page that was stored.
  /// - Parameters:
  ///   - bytes: The bytes of the page.
  ///   - words: Looks up its words.
  /// - Throws: `BinaryError` or `StoredValueError` for a page that this program did not write.
  mutating func resume(_ bytes: [UInt8], words: WordReader) throws {
    begin()
    var reader = try PageReader(bytes, words: words)
    while try reader.next() { times = (min(times.min, reader.at), max(times.max, reader.at)) }
    lines = reader.line + 1
    guard lines > 0 else { return }
    out = BinaryWriter(appendingTo: bytes)
    previous = DecisionLine(try reader.decision())
    (id, kind, policy) = (reader.numbers, reader.kind, reader.policy)
  }

  /// Appends a line.
  /// - Parameters:
  ///   - line: The decision.
  ///   - id: The numbers of its id; nil for an id of another form.
  ///   - words: Gives numbers to its words.
  mutating func append(_ line: DecisionLine, id: RecordId?, words: WordWriter) throws {
    var flags: PageFormat.Flags = []
    hasNewEvent = !line.text(at: line.event, equals: previous.event, of: previous)
    if hasNewEvent { flags.insert(.newEvent) }
    if !line.hasOnlyItsEvent { flags.insert(.events) }
    if lines == 0 || !line.text(at: line.kind, equals: previous.kind, of: previous) {
      flags.insert(.newKind)
      kind = try words.number(line.bytes.span.extracting(line.kind.range))
    }
    try newPolicy(of: line, &flags, words)
    if line.surface != previous.surface { flags.insert(.newSurface) }
    if !line.text(at: line.traceparent, equals: previous.traceparent, of: previous) { flags.insert(.newTrace) }
    if line.relevance != previous.relevance { flags.insert(.newRelevance) }
    if line.wrong != 0 || line.looks != 0 || line.value != 0 || line.price != 0 { flags.insert(.weighed) }
    if line.tokensLeft.instance != nil { flags.insert(.instanceTokens) }
    if line.tokensLeft.device != nil { flags.insert(.deviceTokens) }
    if line.tokensLeft.app != nil { flags.insert(.appTokens) }
    if line.until != nil { flags.insert(.until) }
    let command = ownCommand(of: line, id)
    if line.command.isPresent { flags.insert(command == nil ? .otherCommand : .ownCommand) }
    if let id { if id.partition != self.id.partition { flags.insert(.newPartition) } } else { flags.insert(.oddId) }
    writeHead(of: line, id, flags)
    writeTexts(of: line, flags)
    writeFigures(of: line, flags)
    if let command, let id { out.zigzag(command &- id.ordinal) }
    if flags.contains(.otherCommand) { out.blob(line, line.command) }
    if let id { self.id = id }
    times = (min(times.min, line.at.microseconds), max(times.max, line.at.microseconds))
    lines += 1
    previous = line
  }

  private mutating func newPolicy(of line: DecisionLine, _ flags: inout PageFormat.Flags, _ words: WordWriter) throws {
    guard
      lines == 0 || !line.text(at: line.policyHash, equals: previous.policyHash, of: previous)
        || !line.text(at: line.policyVersion, equals: previous.policyVersion, of: previous)
    else { return }
    flags.insert(.newPolicy)
    policy.version = try words.number(line.bytes.span.extracting(line.policyVersion.range))
    policy.hash = try words.number(line.bytes.span.extracting(line.policyHash.range))
  }

  /// Returns the ordinal of the command of a line, if it is a command of the same log record.
  private func ownCommand(of line: DecisionLine, _ id: RecordId?) -> Int64? {
    guard line.command.isPresent, let id,
      let command = RecordId(line.bytes.span.extracting(line.command.range), of: .command),
      command.partition == id.partition, command.offset == id.offset
    else { return nil }
    return command.ordinal
  }

  /// Writes the flags, the id, the code and the time.
  private mutating func writeHead(of line: DecisionLine, _ id: RecordId?, _ flags: PageFormat.Flags) {
    let code = UInt64(bitPattern: DecisionCode(line).code)
    let at = line.at.microseconds &- previous.at.microseconds
    guard let id else {
      out.varint(flags.rawValue)
      out.blob(line, line.id)
      out.varint(code)
      out.zigzag(at)
      return
    }
    let last = self.id
    out.piece(ofAtMost: 6 * OutputSpan<UInt8>.varintMax) { (room: inout OutputSpan<UInt8>) in
      room.append(varint: flags.rawValue)
      if flags.contains(.newPartition) { room.append(zigzag: id.partition) }
      let offset = id.offset &- last.offset
      room.append(zigzag: offset)
      room.append(zigzag: offset == 0 ? id.ordinal &- last.ordinal : id.ordinal)
      room.append(varint: code)
      room.append(zigzag: at)
    }
  }

  private mutating func writeTexts(of line: DecisionLine, _ flags: PageFormat.Flags) {
    if flags.contains(.newEvent) { out.text(line, line.event, like: previous, previous.event) }
    if flags.contains(.events) {
      out.count(line.eventCount)
      line.forEachEvent { out.text(line, $0, like: line, line.event) }
    }
    out.text(line, line.device, like: previous, previous.device)
    out.text(line, line.instance, like: line, line.device)
    if flags.contains(.newKind) { out.zigzag(kind) }
    if flags.contains(.newSurface) { out.uint8(line.surface.number) }
    if flags.contains(.newPolicy) {
      out.zigzag(policy.version)
      out.zigzag(policy.hash)
    }
    if flags.contains(.newTrace) {
      out.bool(line.traceparent.isPresent)
      if line.traceparent.isPresent { out.text(line, line.traceparent, like: previous, previous.traceparent) }
    }
  }

  private mutating func writeFigures(of line: DecisionLine, _ flags: PageFormat.Flags) {
    out.piece(ofAtMost: 9 * OutputSpan<UInt8>.varintMax) { (room: inout OutputSpan<UInt8>) in
      if flags.contains(.newRelevance) { room.append(figure: line.relevance) }
      if flags.contains(.weighed) {
        room.append(figure: line.wrong)
        room.append(figure: line.looks)
        room.append(figure: line.value)
        room.append(figure: line.price)
      }
      if let tokens = line.tokensLeft.instance { room.append(zigzag: Int64(tokens)) }
      if let tokens = line.tokensLeft.device { room.append(zigzag: Int64(tokens)) }
      if let tokens = line.tokensLeft.app { room.append(zigzag: Int64(tokens)) }
      if let until = line.until { room.append(zigzag: until.microseconds &- line.at.microseconds) }
    }
  }
}

extension BinaryWriter {
  /// Writes a text of a line, without the first bytes that it shares with a known text.
  fileprivate mutating func text(
    _ line: DecisionLine, _ place: DecisionLine.Place, like known: DecisionLine, _ knownPlace: DecisionLine.Place
  ) {
    let shared = line.shared(place, knownPlace, of: known)
    count(shared)
    count(place.count - shared)
    text(utf8: line.bytes.span.extracting(place.range).extracting(shared..<place.count))
  }

  /// Writes a text of a line: its length and its bytes.
  fileprivate mutating func blob(_ line: DecisionLine, _ place: DecisionLine.Place) {
    count(place.count)
    text(utf8: line.bytes.span.extracting(place.range))
  }
}

extension OutputSpan<UInt8> {
  /// Writes a number in the form of `PageFormat`, which takes up to ten bytes.
  @inline(__always)
  fileprivate mutating func append(figure value: Double) {
    let scaled = (value * 1e6).rounded()
    // The condition is false for "not a number".
    if scaled.magnitude < 1e15, scaled / 1e6 == value {
      let integer = Int64(scaled)
      append(varint: UInt64(bitPattern: (integer << 1) ^ (integer >> 63)) << 1)
    } else {
      append(varint: 1)
      append(fixed: value.bitPattern)
    }
  }
}
