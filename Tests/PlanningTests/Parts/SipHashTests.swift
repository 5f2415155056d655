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

  /// They were computed by a second program, which with the rounds of SipHash-2-4 gives the reference implementation's test vectors.
  @Test(
    "it is SipHash-1-3 with 128 bits",
    arguments: [
      (0, 0xbea5_8827_b2bc_7ee7, 0x0130_30dd_6adb_62fd), (1, 0xa8ed_d360_0437_6ffc, 0x63f0_2f2b_cc73_055e),
      (2, 0x9b83_6905_097f_7875, 0x95ea_6a8c_54c9_5b85), (3, 0x9ff7_dc1e_facc_c56b, 0x43d7_eb12_7718_2348),
      (8, 0xb4da_e3d5_e1fe_12aa, 0x99c7_f935_ab16_4f72), (63, 0x6f42_fe4e_e300_584c, 0xad60_52a7_0a6b_9f07),
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
