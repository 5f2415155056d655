import Domain
import JSON
import Testing

@Suite("Records read back equal to what was written") struct RoundTripTests {
  private let rounds = 500

  private func seeded(_ body: (inout RandomDomain, UInt64) throws -> Void) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = RandomDomain(seed: seed)
    for _ in 0..<rounds { try body(&random, seed) }
  }

  @Test("a registration reads back equal")
  func registrations() throws {
    let decoder = RegistrationDecoder { _ in true }
    try seeded { (random, seed) throws in
      let registration = random.registration()
      #expect(
        try decoder.decode(registration.json(), key: Array(registration.device.utf8)) == registration, "seed \(seed)")
    }
  }

  @Test("a signal reads back equal")
  func signals() throws {
    let decoder = SignalDecoder()
    try seeded { (random, seed) throws in
      let signal = random.signal()
      var writer = JSONWriter()
      signal.encode(to: &writer, source: "/test")
      #expect(try decoder.decode(structured(writer.bytes, key: Array(signal.device.utf8))) == signal, "seed \(seed)")
    }
  }

  @Test("a decision reads back equal, and is written again with the same bytes")
  func decisions() throws {
    let reader = JSONReader()
    try seeded { (random, seed) throws in
      let decision = random.decision()
      let json = decision.json()
      let again = try Decision(json: json, reader: reader)
      #expect(again == decision, "seed \(seed)")
      #expect(again.json() == json, "seed \(seed)")
    }
  }

  @Test("a command reads back equal, and is written again with the same bytes")
  func commands() throws {
    let reader = JSONReader()
    try seeded { (random, seed) throws in
      let command = random.command()
      let json = command.json()
      let again = try Command(json: json, reader: reader)
      #expect(again == command, "seed \(seed)")
      #expect(again.json() == json, "seed \(seed)")
    }
  }

  @Test("a payload of exactly the bound is read, one byte more is refused")
  func payloadBound() throws {
    var random = RandomDomain(seed: 1)
    var command = random.command()
    let room = DomainBounds.payloadBytesMax - #"{"x":""}"#.utf8.count
    command.apns.payload = #"{"x":""# + String(repeating: "y", count: room) + #""}"#
    #expect(try Command(json: command.json()) == command)
    command.apns.payload = #"{"x":""# + String(repeating: "y", count: room + 1) + #""}"#
    let error = #expect(throws: DomainError.self) { try Command(json: command.json()) }
    #expect(error?.path == "$.apns.payload" && error?.code == .outOfBounds)
  }

  @Test("a log record reads back equal, also behind other bytes")
  func logRecords() throws {
    try seeded { (random, seed) throws in
      let record = random.logRecord()
      var bytes: [UInt8] = [7]
      record.encode(into: &bytes)
      #expect(bytes.first == 7)
      #expect(try LogRecord(bytes: Array(bytes.dropFirst())) == record, "seed \(seed)")
    }
  }

  @Test("type and subject of an event are found without reading its record")
  func eventPlaces() throws {
    var events = 0
    try seeded { (random, seed) throws in
      let record = random.logRecord()
      var bytes: [UInt8] = []
      record.encode(into: &bytes)
      let places = LogRecord.eventPlaces(in: bytes)
      guard case .event(let event) = record.content else {
        #expect(places == nil, "seed \(seed)")
        return
      }
      events += 1
      let found = try #require(places, "seed \(seed)")
      #expect(Identifier(decoding: bytes[found.type]) == event.type, "seed \(seed)")
      #expect(Identifier(decoding: bytes[found.subject]) == event.subject, "seed \(seed)")
    }
    #expect(events > 0)
  }

  @Test("a decision's members are in the order of the type, and numbers are short")
  func decisionText() {
    let decision = Decision(
      decision: "d-0-1-2", event: "e2", events: ["e1", "e2"], device: "d", instance: "i", kind: "K", surface: .widget,
      verdict: .defer, reason: .belowPrice, final: false, at: Timestamp(microseconds: 1_372_673_100_500_000),
      relevance: 0.1 + 0.2, wrong: 0.64, looks: 0.800_000_4, value: 1, price: 0.123_456_789,
      tokensLeft: .init(instance: 3, app: 0),
      until: Timestamp(microseconds: 1_372_673_400_000_000), policy: PolicyReference(version: "1", hash: "ab"))
    #expect(
      String(decoding: decision.json(), as: UTF8.self)
        == #"{"decision":"d-0-1-2","event":"e2","events":["e1","e2"],"device":"d","instance":"i","kind":"K","surface":"widget","verdict":"defer","reason":"BELOW_PRICE","final":false,"at":"2013-07-01T10:05:00.500Z","relevance":0.3,"wrong":0.64,"looks":0.8,"value":1,"price":0.123457,"tokensLeft":{"instance":3,"app":0},"until":"2013-07-01T10:10:00Z","policy":{"version":"1","hash":"ab"}}"#
    )
  }
}

@Suite("Bytes from outside never crash") struct HostileBytesTests {
  @Test("random and mutated JSON is accepted or refused")
  func json() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = RandomDomain(seed: seed)
    let events = CloudEventDecoder()
    let signals = SignalDecoder()
    let registrations = RegistrationDecoder { _ in true }
    let reader = JSONReader()
    var accepted = 0
    for round in 0..<3000 {
      var bytes: [UInt8]
      switch round % 5 {
      case 0: bytes = random.registration().json()
      case 1: bytes = random.decision().json()
      case 2: bytes = random.command().json()
      case 3:
        var writer = JSONWriter()
        random.signal().encode(to: &writer, source: "/test")
        bytes = writer.bytes
      default: bytes = random.list(60) { UInt8($0.int(0...255)) }
      }
      for _ in 0..<random.int(0...3) where !bytes.isEmpty {
        bytes[random.int(0...bytes.count - 1)] =
          random.bool() ? UInt8(random.int(0...255)) : Array("{}[]\",:0n".utf8)[random.int(0...8)]
      }
      if random.int(0...3) == 0 { bytes.removeLast(random.int(0...bytes.count)) }
      let record = structured(bytes)
      let refusals = [
        refusal { () throws(DomainError) in try events.decode(record) },
        refusal { () throws(DomainError) in try signals.decode(record) },
        refusal { () throws(DomainError) in try registrations.decode(bytes) },
        refusal { () throws(DomainError) in try Decision(json: bytes, reader: reader) },
        refusal { () throws(DomainError) in try Command(json: bytes, reader: reader) },
      ]
      accepted += refusals.count { $0 == nil }
      #expect(refusals.allSatisfy { $0.map { !$0.path.isEmpty && !$0.message.isEmpty } ?? true }, "seed \(seed)")
    }
    #expect(accepted > 0)
  }

  @Test("a log record cut at any byte is refused")
  func truncatedLogRecords() {
    var random = RandomDomain(seed: 1)
    for _ in 0..<60 {
      var bytes: [UInt8] = []
      random.logRecord().encode(into: &bytes)
      for length in 0..<bytes.count {
        #expect(throws: BinaryError.self) { try LogRecord(bytes: Array(bytes[..<length])) }
        if let places = LogRecord.eventPlaces(in: Array(bytes[..<length])) {
          #expect(places.subject.upperBound <= length)
        }
      }
      #expect(throws: BinaryError.self) { try LogRecord(bytes: bytes + [0]) }
    }
  }

  @Test("random and mutated log records are read or refused")
  func randomLogRecords() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = RandomDomain(seed: seed)
    var refused = 0
    for round in 0..<20_000 {
      var bytes: [UInt8] = []
      if round % 2 == 0 {
        random.logRecord().encode(into: &bytes)
        for _ in 0..<random.int(1...4) { bytes[random.int(0...bytes.count - 1)] = UInt8(random.int(0...255)) }
      } else {
        bytes = [1, UInt8(random.int(0...7)), 0] + random.list(40) { UInt8($0.int(0...255)) }
      }
      do throws(BinaryError) { _ = try LogRecord(bytes: bytes) } catch { refused += 1 }
      if let places = LogRecord.eventPlaces(in: bytes) {
        #expect(places.type.upperBound <= bytes.count && places.subject.upperBound <= bytes.count, "seed \(seed)")
      }
    }
    #expect(refused > 5000, "seed \(seed)")
  }

  @Test("a log record of a newer release is refused with the advice to upgrade")
  func newerVersion() {
    #expect(throws: BinaryError.newerVersion(found: 2, newestKnown: 1)) { try LogRecord(bytes: [2, 9, 9]) }
    for foreign in ["{}", "[]", " {}", "\n", "text"] {
      #expect(throws: BinaryError.corrupt(offset: 0, what: "a format version from 1 to 8")) {
        try LogRecord(bytes: Array(foreign.utf8))
      }
    }
    #expect(
      BinaryError.newerVersion(found: 2, newestKnown: 1).description
        == "the record has format version 2, and this program knows versions up to 1: upgrade it")
    #expect(throws: BinaryError.corrupt(offset: 1, what: "a content tag from 1 to 7")) {
      try LogRecord(bytes: [1, 8, 0])
    }
    #expect(throws: BinaryError.truncated(offset: 0, what: "a format version")) { try LogRecord(bytes: []) }
  }

  @Test(
    "a log record from before the beginning of a topic is refused", arguments: [(-1, 0), (0, -1)] as [(Int32, Int64)])
  func beforeTheBeginning(partition: Int32, offset: Int64) throws {
    let origin = Origin(topic: "events", partition: partition, offset: offset)
    var bytes: [UInt8] = []
    LogRecord(origin: origin, content: .forget(device: "d")).encode(into: &bytes)
    #expect(throws: BinaryError.corrupt(offset: 2, what: "an origin with a partition and an offset from 0 on")) {
      try LogRecord(bytes: bytes)
    }
  }

  @Test("integers of every width are read as they were written", arguments: 0..<64)
  func varints(bit: Int) throws {
    for value in [UInt64(1) << UInt64(bit), (1 << UInt64(bit)) - 1, (1 << UInt64(bit)) | 0x55, .max >> UInt64(bit)] {
      var writer = BinaryWriter()
      writer.varint(value)
      #expect(writer.bytes.count == max(1, (70 - value.leadingZeroBitCount) / 7))
      var reader = BinaryReader(writer.bytes)
      #expect(try reader.varint() == value)
      try reader.end()
    }
  }

  @Test("the extremes of binary integers survive, longer ones are refused")
  func integers() throws {
    var writer = BinaryWriter()
    let signed: [Int64] = [.min, -1, 0, 1, .max]
    for value in signed {
      writer.zigzag(value)
      writer.int64(value)
    }
    writer.varint(.max)
    writer.float(1.5)
    writer.blob([1, 2])
    writer.optionalString(nil)
    var reader = BinaryReader(writer.bytes)
    for value in signed {
      #expect(try reader.zigzag() == value)
      #expect(try reader.int64() == value)
    }
    #expect(try reader.varint() == .max)
    #expect(try reader.float() == 1.5)
    #expect(try reader.blob() == [1, 2])
    #expect(try reader.optionalString() == nil)
    #expect(throws: Never.self) { try reader.end() }
    var tooLong = BinaryReader([UInt8](repeating: 0xFF, count: 9) + [2])
    #expect(throws: BinaryError.corrupt(offset: 0, what: "an integer of at most 64 bits")) { try tooLong.varint() }
    var hugeCount = BinaryReader([0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1])
    #expect(throws: BinaryError.self) { try hugeCount.count() }
  }
}
