import Testing

@testable import Domain

@Suite("Seeded random numbers")
struct SeededRandomTests {
  @Test("SeededRandom64 gives the numbers of its authors' reference code")
  func splitMix() {
    var mixer = SeededRandom64(state: 1_234_567)
    #expect(
      (0..<5).map { _ in mixer.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
      ])
  }

  @Test("xoshiro256** gives the numbers of its authors' reference code")
  func xoshiro() {
    var random = SeededRandom(a: 1, b: 2, c: 3, d: 4)
    #expect(
      (0..<6).map { _ in random.next() } == [
        11520, 0, 1_509_978_240, 1_215_971_899_390_074_240, 1_216_172_134_540_287_360, 607_988_272_756_665_600,
      ])
  }

  @Test("the same seed and stream give the same numbers; another seed or stream gives others")
  func streams() {
    func first(_ seed: UInt64, _ stream: UInt64) -> UInt64 {
      var random = SeededRandom(seed: seed, stream: stream)
      return random.next()
    }
    #expect(first(7, 3) == first(7, 3))
    let all = (0..<100).flatMap { seed in (0..<100).map { first(seed, $0) } }
    #expect(Set(all).count == all.count)
  }

  @Test("all numbers below a bound occur, about equally often")
  func below() {
    var random = SeededRandom(seed: 1)
    var counts = [Int](repeating: 0, count: 10)
    for _ in 0..<100_000 { counts[random.below(10)] += 1 }
    #expect(counts.allSatisfy { (9_500...10_500).contains($0) })
    #expect((0..<1000).allSatisfy { _ in (0..<1).contains(random.unit()) })
    #expect((0..<100).allSatisfy { _ in random.below(1) == 0 })
  }

  @Test("a value is picked in proportion to its weight, and a shuffle keeps every element")
  func pickAndShuffle() {
    var random = SeededRandom(seed: 2)
    let picked = (0..<10_000).map { _ in random.pick([("a", 1), ("b", 0), ("c", 3)]) }
    #expect((2300...2700).contains(picked.count { $0 == "a" }))
    #expect(!picked.contains("b"))
    var numbers = Array(0..<1000)
    random.shuffle(&numbers)
    #expect(numbers != Array(0..<1000))
    #expect(numbers.sorted() == Array(0..<1000))
  }
}
