@testable import Planning

/// Returns the records of a compacted `rouse.state` in an order in which the topic could hold them: the chunks by number,
/// behind all others.
func topicOrder(_ state: [[UInt8]: [UInt8]]) -> [(key: [UInt8], value: [UInt8])] {
  // Read once for each record, not for each comparison: planners that are lost after every step spent most of their time here.
  state.map { (number: chunkNumber(of: $0.key) ?? -1, key: $0.key, value: $0.value) }.sorted { a, b in
    a.number == b.number ? a.key.lexicographicallyPrecedes(b.key) : a.number < b.number
  }.map { (key: $0.key, value: $0.value) }
}

/// Returns the number of a chunk of any sort; nil for the key of another record.
func chunkNumber(of key: [UInt8]) -> Int64? {
  guard let first = key.first, let sort = ChunkSort(rawValue: first) else { return nil }
  return StateKey.number(of: key, sort)
}
