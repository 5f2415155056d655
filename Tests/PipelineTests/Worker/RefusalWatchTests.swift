import KafkaClient
import Testing

@testable import Pipeline

/// The search for the record whose output the broker refuses.
@Suite("the watch over refused records")
struct RefusalWatchTests {
  private static func one(_ offset: Int64) -> UncommittedRecords {
    UncommittedRecords(first: offset, last: offset, count: 1)
  }

  @Test("after a refusal of many records each is committed alone, and none is blamed")
  func many() {
    var watch = RefusalWatch()
    #expect(!watch.isWatched(0))
    for _ in 0..<10 { watch.note(UncommittedRecords(first: 5, last: 9, count: 4), isAlone: true, .messageTooLarge) }
    #expect(watch.isWatched(5) && watch.isWatched(9) && !watch.isWatched(10))
    for offset in Int64(0)..<12 { #expect(watch.treatment(of: offset) == .planned) }
  }

  @Test("a record in a transaction with those of other partitions is not blamed")
  func notAlone() {
    var watch = RefusalWatch()
    for _ in 0..<10 { watch.note(Self.one(5), isAlone: false, .messageTooLarge) }
    #expect(watch.treatment(of: 5) == .planned && watch.isWatched(5))
  }

  @Test("three equal refusals of one record change its treatment, each time to a smaller one")
  func treatments() {
    var watch = RefusalWatch()
    var treatments: [RecordTreatment] = []
    for _ in 0..<14 {
      treatments.append(watch.treatment(of: 7))
      watch.note(Self.one(7), isAlone: true, .messageTooLarge)
    }
    let expected = [RecordTreatment.planned, .setAside, .postponed].flatMap { Array(repeating: $0, count: 3) }
    #expect(treatments == expected + Array(repeating: .passedOver, count: 5))
    #expect(watch.treatment(of: 8) == .planned)
  }

  @Test("a refusal with another code, or of another record, is counted anew, but no treatment is taken back")
  func counts() {
    var watch = RefusalWatch()
    for _ in 0..<2 { watch.note(Self.one(7), isAlone: true, .messageTooLarge) }
    watch.note(Self.one(7), isAlone: true, .invalidRecord)
    #expect(watch.treatment(of: 7) == .planned)
    for _ in 0..<2 { watch.note(Self.one(7), isAlone: true, .invalidRecord) }
    #expect(watch.treatment(of: 7) == .setAside)
    watch.note(Self.one(7), isAlone: true, .messageTooLarge)
    #expect(watch.treatment(of: 7) == .setAside)
    watch.note(Self.one(8), isAlone: true, .messageTooLarge)
    #expect(watch.treatment(of: 8) == .planned && watch.treatment(of: 7) == .planned)
  }
}
