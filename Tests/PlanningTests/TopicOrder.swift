@testable import Planning

/// Returns the records of a compacted `rouse.state` in an order in which the topic could hold them: the chunks by number,
/// behind all others.
func topicOrder(_ state: [[UInt8]: [UInt8]]) -> [(key: [UInt8], value: [UInt8])] {
  state.map { (key: $0.key, value: $0.value) }.sorted {
    let (a, b) = (chunkNumber(of: $0.key) ?? -1, chunkNumber(of: $1.key) ?? -1)
    return a == b ? $0.key.lexicographicallyPrecedes($1.key) : a < b
  }
}

/// Returns the number of a chunk of any sort; nil for the key of another record.
func chunkNumber(of key: [UInt8]) -> Int64? {
  ChunkSort.allCases.lazy.compactMap { StateKey.number(of: key, $0) }.first
}
