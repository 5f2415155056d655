import Testing

@testable import Planning

@Suite("The index from texts to numbers")
struct HashIndexTests {
  @Test("the candidate of a hash is its number, however full the table is and wherever the number stands")
  func candidates() {
    var index = HashIndex()
    // Hashes that differ in their lowest bits only lead to one place, so the search must go on behind it.
    let hashes = (0..<2000).map { UInt32($0 / 4) &* 0x9e37_79b9 ^ UInt32($0 % 4) }
    for (number, hash) in hashes.enumerated() {
      #expect(index.candidate(hash) == nil)
      index.insert(UInt32(number), hash: hash)
    }
    #expect(hashes.map { index.candidate($0) } == hashes.indices.map { UInt32($0) })
    index.remove(0, hash: hashes[0])
    #expect(index.candidate(hashes[0]) == nil)
    #expect(index.candidate(hashes[1]) == 1)
  }
}
