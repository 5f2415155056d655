import Domain

/// Reads the decisions of a page (`PageFormat`) one after the other. The bytes may be anything: a damaged page is refused.
///
/// After `next()` the properties hold the members of one line. Texts are kept as bytes, so that a question that looks for a few
/// decisions makes no text of the others.
struct PageReader {
  private var from: BinaryReader
  private let words: WordReader
  /// The number of the last line that was read, from 0; −1 before the first one.
  private(set) var line = -1
  /// The numbers of the id; the partition is −1 for an id of another form.
  private(set) var id = RecordId(partition: 0, offset: 0, ordinal: 0)
  /// An id of another form; empty otherwise.
  private(set) var oddId: [UInt8] = []
  private(set) var code: Int64 = 0
  private(set) var at: Int64 = 0
  private(set) var event: [UInt8] = []
  private(set) var events: [[UInt8]]?
  private(set) var device: [UInt8] = []
  /// The instance: bytes of the device, then bytes of the page. It is put together when it is asked for.
  private var instanceParts = (ofDevice: 0, rest: 0..<0)
  var instance: [UInt8] { Array(device[..<instanceParts.ofDevice]) + from.bytes[instanceParts.rest] }
  /// The number of the word of the kind.
  private(set) var kind: Int64 = 0
  private(set) var surface = Surface.widget
  private(set) var policy: (version: Int64, hash: Int64) = (0, 0)
  private(set) var trace: [UInt8]?
  private(set) var relevance = 0.0
  private(set) var weights = (wrong: 0.0, looks: 0.0, value: 0.0, price: 0.0)
  private(set) var tokensLeft = Decision.TokensLeft()
  private(set) var untilAfter: Int64?
  /// The ordinal of a command of the same log record.
  private(set) var ownCommand: Int64?
  private(set) var otherCommand: [UInt8]?
  /// The last id in numbers, from which the next one differs by little.
  private(set) var numbers = RecordId(partition: 0, offset: 0, ordinal: 0)

  /// - Parameters:
  ///   - bytes: The bytes of the page.
  ///   - words: Looks up its words.
  /// - Throws: `BinaryError` for a page of another format.
  init(_ bytes: [UInt8], words: WordReader) throws {
    from = BinaryReader(bytes)
    self.words = words
    let version = try from.uint8("the version of a page")
    guard version == PageFormat.version else { throw BinaryError.corrupt(offset: 0, what: "a page of this version") }
  }

  /// Reads the next line.
  /// - Returns: Whether there was one.
  /// - Throws: `BinaryError` or `StoredValueError` for a page that this program did not write.
  mutating func next() throws -> Bool {
    guard from.remaining > 0 else { return false }
    let flags = PageFormat.Flags(rawValue: try from.varint("the flags"))
    try readId(flags)
    code = Int64(bitPattern: try from.varint("a code"))
    at = at &+ (try from.zigzag("a time"))
    try readTexts(flags)
    try readFigures(flags)
    ownCommand = flags.contains(.ownCommand) ? id.ordinal &+ (try from.zigzag("a command")) : nil
    otherCommand = flags.contains(.otherCommand) ? try from.blob("a command") : nil
    line += 1
    return true
  }

  private mutating func readId(_ flags: PageFormat.Flags) throws(BinaryError) {
    guard !flags.contains(.oddId) else {
      oddId = try from.blob("an id")
      id = RecordId(partition: -1, offset: 0, ordinal: 0)
      return
    }
    oddId.removeAll(keepingCapacity: true)
    if flags.contains(.newPartition) { numbers.partition = try from.zigzag("a partition") }
    let offset = try from.zigzag("an offset")
    let ordinal = try from.zigzag("an ordinal")
    numbers.offset = numbers.offset &+ offset
    numbers.ordinal = offset == 0 ? numbers.ordinal &+ ordinal : ordinal
    id = numbers
  }

  private mutating func readTexts(_ flags: PageFormat.Flags) throws {
    if flags.contains(.newEvent) { try from.text(&event) }
    events = nil
    if flags.contains(.events) {
      var names: [[UInt8]] = []
      for _ in 0..<(try from.count("a number of events")) {
        var name = event
        try from.text(&name)
        names.append(name)
      }
      events = names
    }
    try from.text(&device)
    instanceParts = try from.textParts(like: device)
    if flags.contains(.newKind) { kind = try from.zigzag("a kind") }
    if flags.contains(.newSurface) { surface = try Surface(code: Int64(try from.uint8("a surface"))) }
    if flags.contains(.newPolicy) { policy = (try from.zigzag("a version"), try from.zigzag("a hash")) }
    if flags.contains(.newTrace) {
      var text = trace ?? []
      let isPresent = try from.bool("a flag of a traceparent")
      if isPresent { try from.text(&text) }
      trace = isPresent ? text : nil
    }
  }

  private mutating func readFigures(_ flags: PageFormat.Flags) throws(BinaryError) {
    if flags.contains(.newRelevance) { relevance = try from.number() }
    weights = (0, 0, 0, 0)
    if flags.contains(.weighed) {
      weights = (try from.number(), try from.number(), try from.number(), try from.number())
    }
    tokensLeft.instance = flags.contains(.instanceTokens) ? Int(try from.zigzag("tokens")) : nil
    tokensLeft.device = flags.contains(.deviceTokens) ? Int(try from.zigzag("tokens")) : nil
    tokensLeft.app = flags.contains(.appTokens) ? Int(try from.zigzag("tokens")) : nil
    untilAfter = flags.contains(.until) ? try from.zigzag("an instant") : nil
  }
}

extension PageReader {
  /// The decision of the line that was read last.
  /// - Throws: `StoredValueError` if a word or a code is unknown.
  func decision() throws -> Decision {
    let code = try DecisionCode(code: code)
    let name = Identifier(decoding: event)
    return Decision(
      decision: id.partition < 0 ? Identifier(decoding: oddId) : id.text(of: .decision), event: name,
      events: events?.map { Identifier(decoding: $0) } ?? [name], device: Identifier(decoding: device),
      instance: Identifier(decoding: instance), kind: try words.word(kind), surface: surface, verdict: code.verdict,
      reason: code.reason, final: code.final, at: Timestamp(microseconds: at), relevance: relevance,
      wrong: weights.wrong, looks: weights.looks, value: weights.value, price: weights.price, tokensLeft: tokensLeft,
      until: untilAfter.map { Timestamp(microseconds: at &+ $0) }, command: command,
      objective: code.objective,
      policy: PolicyReference(version: try words.word(policy.version), hash: try words.word(policy.hash)),
      traceparent: trace.map { Identifier(decoding: $0).text })
  }

  /// The id of the command of the line; nil if it has none.
  var command: Identifier? {
    if let ownCommand {
      return RecordId(partition: id.partition, offset: id.offset, ordinal: ownCommand).text(of: .command)
    }
    return otherCommand.map { Identifier(decoding: $0) }
  }
}

extension BinaryReader {
  /// Reads a text that begins like the known one, which it replaces.
  fileprivate mutating func text(_ known: inout [UInt8]) throws(BinaryError) {
    let shared = try varint("a number of bytes")
    guard shared <= UInt64(known.count) else {
      throw .corrupt(offset: offset, what: "at most \(known.count) shared bytes")
    }
    let rest = try blobPlace("a text")
    let count = Int(shared) + rest.count
    // Ids of one publisher are nearly always of one length, so that bytes are replaced and none is added or removed.
    guard count == known.count else {
      known.removeLast(known.count - Int(shared))
      known += bytes[rest]
      return
    }
    for place in rest { known[count - rest.upperBound + place] = bytes[place] }
  }

  /// Finds a text that begins like another one.
  /// - Returns: the number of bytes that both share, and the place of the rest.
  fileprivate mutating func textParts(like other: [UInt8]) throws(BinaryError) -> (Int, Range<Int>) {
    let shared = try varint("a number of bytes")
    guard shared <= UInt64(other.count) else {
      throw .corrupt(offset: offset, what: "at most \(other.count) shared bytes")
    }
    return (Int(shared), try blobPlace("a text"))
  }

  /// Reads a number in the form of `PageFormat`.
  fileprivate mutating func number() throws(BinaryError) -> Double {
    let value = try varint("a number")
    if value & 1 == 1 { return try double("a number") }
    let zigzag = value >> 1
    return Double(Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)) / 1e6
  }
}
