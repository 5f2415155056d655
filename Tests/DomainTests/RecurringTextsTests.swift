import Testing

@testable import Domain

@Suite("Texts that recur in log records") struct RecurringTextsTests {
  private static func parts(_ bytes: [UInt8], _ texts: inout RecurringTexts?) -> Result<LogRecord, BinaryError> {
    do throws(BinaryError) {
      let (origin, content) = try LogRecord.parts(of: bytes, recurring: &texts)
      return .success(LogRecord(origin: origin, content: content))
    } catch {
      return .failure(error)
    }
  }

  @Test("a text of 16 to 64 bytes is found again, until another one needs its place")
  func found() {
    var texts = RecurringTexts()
    for size in [0, 1, 15, 65, 200] {
      let name = Identifier(String(repeating: "a", count: size))
      var place = 0
      #expect(texts.find(name.utf8.span, &place) == nil && place == -1, "\(size)")
      texts.keep(name, at: place)
      #expect(texts.find(name.utf8.span, &place) == nil, "\(size)")
    }
    var places: [Int: Identifier] = [:]
    for number in 0..<2000 {
      let name = Identifier("\(number)" + String(repeating: "b", count: 16 + number % 45))
      var place = -1
      #expect(texts.find(name.utf8.span, &place) == nil)
      texts.keep(name, at: place)
      places[place] = name
      #expect(texts.find(name.utf8.span, &place) == name)
    }
    #expect(places.count == 256)
    for (kept, name) in places {
      var place = -1
      #expect(texts.find(name.utf8.span, &place) == name && place == kept)
    }
  }

  @Test("a record reads the same with the texts of others at hand, damaged ones included")
  func same() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = RandomDomain(seed: seed)
    // Many texts of the same sizes, more of them than there are places, and some that are not ASCII.
    let names: [Identifier] = (0..<600).map { number in
      let size = random.int(1...70)
      let text = "\(number)" + String(repeating: number % 7 == 0 ? "é" : "x", count: size)
      return Identifier(text)
    }
    var texts: RecurringTexts? = RecurringTexts()
    var failures = 0
    for round in 0..<5000 {
      var event = random.event()
      event.source = names[random.int(0...599)]
      event.type = names[random.int(0...19)]
      event.fields = (0..<random.int(0...4)).map { _ in
        EventField(path: names[random.int(0...599)], value: .number(Double(round)))
      }
      var bytes: [UInt8] = []
      LogRecord(origin: nil, content: .event(event)).encode(into: &bytes)
      if round % 5 == 0 { bytes[random.int(0...bytes.count - 1)] = UInt8(random.int(0...255)) }
      var none: RecurringTexts?
      let plain = Self.parts(bytes, &none)
      #expect(Self.parts(bytes, &texts) == plain, "seed \(seed), round \(round)")
      if case .failure = plain { failures += 1 }
      // Another record may follow a damaged one.
      #expect(texts != nil)
    }
    #expect(failures > 50, "seed \(seed)")
  }
}
