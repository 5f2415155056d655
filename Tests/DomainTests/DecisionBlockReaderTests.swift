import JSON
import Testing

@testable import Domain

/// The scan of a line gives the decision that the decoder gives, or leaves the line to it.
@Suite("Reading blocks of decisions") struct DecisionBlockReaderTests {
  private static let plainNames: [Identifier] = [
    "w", "device-10000001-3f2a9c41", "caf\u{e9}", "cafe\u{301}", "🏈", "seven77", "eight888", "nine99999", "{}",
    "\u{7f}\u{2028}",
  ]
  private static let names: [Identifier] = [
    "", "a\"b", "back\\slash", "tab\t", "\0", ",\"device\":\"x",
    Identifier(String(repeating: "n", count: 256)), Identifier(String(repeating: "n", count: 257)),
  ]

  private static func decision(_ n: Int, using random: inout SeededRandom) -> Decision {
    func name() -> Identifier {
      let isHostile = Int.random(in: 0..<12, using: &random) == 0
      return (isHostile ? names.randomElement(using: &random) : plainNames.randomElement(using: &random)) ?? "w"
    }
    func maybe<T>(_ value: T) -> T? { Bool.random(using: &random) ? value : nil }
    func number() -> Double {
      let numbers = [
        0, 1, 0.5, 1e-6, 0.123456, 999_999_999.999999, -0.25, 7, 3, Double.random(in: 0...3, using: &random),
      ]
      if Int.random(in: 0..<40, using: &random) == 0 { return 1e20 }
      return numbers.randomElement(using: &random) ?? 0
    }
    let event = name()
    let lists = [[event], [], [name(), event], [name()]]
    let at = Timestamp(microseconds: Int64.random(in: -1_000_000...2_000_000_000_000_000, using: &random))
    return Decision(
      decision: Bool.random(using: &random) ? "d-3-\(n)-0" : name(), event: event,
      events: lists.randomElement(using: &random) ?? [], device: name(), instance: name(), kind: name(),
      surface: Surface.allCases.randomElement(using: &random) ?? .widget,
      verdict: Verdict.allCases.randomElement(using: &random) ?? .emit,
      reason: Reason.allCases.randomElement(using: &random) ?? .emitted, final: Bool.random(using: &random), at: at,
      relevance: number(), wrong: number(), looks: number(), value: number(), price: number(),
      tokensLeft: Decision.TokensLeft(
        instance: maybe(Int.random(in: -1...200, using: &random)), device: maybe(5), app: maybe(Int.max)),
      until: maybe(at + .minutes(7)), command: maybe(name()),
      policy: PolicyReference(version: name(), hash: "0123456789abcdef"), traceparent: maybe(name().text))
  }

  private static func plain(_ n: Int) -> Decision {
    Decision(
      decision: "d-3-\(n)-0", event: "event-1", events: ["event-1"], device: "phone", instance: "phone/1",
      kind: "Flight",
      surface: .widget, verdict: .defer, reason: .belowPrice, final: false,
      at: Timestamp(microseconds: 1_795_183_200_123_456),
      relevance: 0.5, wrong: 0.123456, looks: 3, value: 12.5, price: 0.000001,
      tokensLeft: Decision.TokensLeft(instance: 12, device: 3, app: 400),
      until: Timestamp(microseconds: 1_795_183_500_000_000), command: "c-3-\(n)-1",
      policy: PolicyReference(version: "2026-11-20.1", hash: "0123456789abcdef"), traceparent: "00-0af7-b7ad-01")
  }

  @Test("a decision of any shape is read as the decoder reads it", arguments: 1...4 as ClosedRange<UInt64>)
  func anyDecision(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let scanner = DecisionScanner()
    let reader = Decision.makeReader()
    var scanned = 0
    for n in 0..<600 {
      let json = Self.decision(n, using: &random).json()
      let found = scanner.scan(json, from: 0)
      let decoded = Self.decoded(json, reader)
      if let found {
        scanned += 1
        #expect(
          found.end == json.count && found.line.decision == decoded,
          "seed \(seed): \(String(decoding: json, as: UTF8.self))")
        #expect(found.line.hasOnlyItsEvent == (decoded.map { $0.events == [$0.event] }), "seed \(seed)")
      }
      if let decoded { #expect(DecisionLine(decoded).decision == decoded, "seed \(seed)") }
    }
    #expect(scanned > 100)
  }

  @Test("a line that planners write is scanned")
  func plainLine() throws {
    let decision = Self.plain(1)
    let found = try #require(DecisionScanner().scan(decision.json(), from: 0))
    #expect(found.line.decision == decision)
    var free = decision
    (free.tokensLeft, free.until, free.command, free.traceparent) = (Decision.TokensLeft(), nil, nil, nil)
    #expect(DecisionScanner().scan(free.json(), from: 0)?.line.decision == free)
  }

  @Test("an altered line is never read as anything but what the decoder reads", arguments: [1, 2] as [UInt64])
  func altered(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let scanner = DecisionScanner()
    let reader = Decision.makeReader()
    let line = Self.plain(1).json()
    let bytes = Array("\"\\{}[]:,.-+eE0123456789tfn \n\u{0}\u{1f}\u{7f}é".utf8) + [0x80, 0xff, 0xc3]
    for _ in 0..<8_000 {
      var json = line
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let at = Int.random(in: 0..<json.count, using: &random)
        let byte = bytes[Int.random(in: 0..<bytes.count, using: &random)]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: json[at] = byte
        case 1: json.insert(byte, at: at)
        case 2: json.remove(at: at)
        case _: json.insert(contentsOf: json[at...].prefix(12), at: at)
        }
      }
      guard let found = scanner.scan(json, from: 0), found.end == json.count else { continue }
      #expect(
        found.line.decision == Self.decoded(json, reader), "seed \(seed): \(String(decoding: json, as: UTF8.self))")
    }
  }

  @Test("each line of a block is read alone, whatever its neighbours are")
  func block() {
    let (one, two) = (Self.plain(1), Self.plain(2))
    var spaced = Array(" ".utf8)
    spaced += two.json()
    let lines = [one.json(), Array("[]".utf8), [], spaced, Array(one.json().dropLast()), two.json(), []]
    let block = DecisionBlock(Array(lines.joined(separator: [UInt8(ascii: "\n")])), count: nil)
    var read: [Decision?] = []
    let count = DecisionBlockReader().read(block) { number, line in
      #expect(number == read.count + 1)
      switch line {
      case .success(let line): read.append(line.decision)
      case .failure: read.append(nil)
      }
    }
    #expect(count == lines.count && count == block.documents.count)
    #expect(read == [one, nil, nil, two, nil, two, nil])
  }

  private static func decoded(_ json: [UInt8], _ reader: JSONReader) -> Decision? {
    do throws(DomainError) { return try Decision(json: json, reader: reader) } catch { return nil }
  }
}
