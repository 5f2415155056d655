import Domain
import Testing

@testable import Planning

@Suite("The keyed hash of texts")
struct SipHashTests {
  private static let key = HashKey(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)

  private static func hash(_ texts: [String], _ key: HashKey = key) -> KeyedHash {
    var hash = SipHash(key: key)
    for text in texts { hash.add(utf8: text.utf8.span) }
    return hash.value
  }

  /// The first ones are among the test vectors of the reference implementation; the last two were computed by a second program.
  @Test(
    "it is SipHash-2-4 with 128 bits",
    arguments: [
      (0, 0xe6a8_25ba_047f_81a3, 0x9302_55c7_1472_f66d), (1, 0x44af_996b_d8c1_87da, 0x45fc_229b_1159_7634),
      (2, 0xc75d_a4a4_8d22_7781, 0xe4ff_0af6_de8b_a3fc), (3, 0x4ea9_6752_0cb6_709c, 0x51ed_8529_b0b6_335f),
      (8, 0x61f5_5862_baa9_623b, 0xb497_14f3_64e2_830f), (63, 0x4a83_502f_77d1_5051, 0x7cbd_3f97_9a06_3e50),
    ] as [(count: UInt8, low: UInt64, high: UInt64)])
  func vectors(count: UInt8, low: UInt64, high: UInt64) {
    var hash = SipHash(key: Self.key)
    hash.add(utf8: Array(0..<count).span)
    #expect(hash.value == KeyedHash(low: low, high: high))
  }

  @Test("texts that are much alike, other divisions of one text and other keys lead to other hashes")
  func distinct() {
    var texts: Set<[String]> = [[], [""], ["", ""], ["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"]]
    for length in 0..<40 { texts.insert([String(repeating: "\0", count: length)]) }
    for number in 0..<20_000 { texts.insert(["flight/UA\(number)", "flight.delay.changed"]) }
    #expect(Set(texts.map { Self.hash($0) }).count == texts.count)
    #expect(Self.hash(["abc"]) != Self.hash(["abc"], .standard))
  }

  @Test("a hash is read from its hexadecimal form, and from no other text")
  func hex() {
    for hash in [KeyedHash.none, KeyedHash(low: 1, high: 0xab), Self.hash(["abc"])] {
      #expect(hash.hex.count == 32 && KeyedHash(hex: hash.hex) == hash)
    }
    let hex = Self.hash(["abc"]).hex
    for wrong in ["", "0", String(hex.dropLast()), hex + "0", hex.uppercased(), "+" + hex.dropFirst()] {
      #expect(KeyedHash(hex: wrong) == nil, "\(wrong)")
    }
  }
}
