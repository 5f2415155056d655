@testable import Planning

/// Returns the records of a compacted `rouse.state` in an order in which the topic could hold them: the chunks of devices by
/// number, behind all others.
func topicOrder(_ state: [[UInt8]: [UInt8]]) -> [(key: [UInt8], value: [UInt8])] {
  state.map { (key: $0.key, value: $0.value) }.sorted {
    let (a, b) = (StateKey.number(ofChunk: $0.key) ?? -1, StateKey.number(ofChunk: $1.key) ?? -1)
    return a == b ? $0.key.lexicographicallyPrecedes($1.key) : a < b
  }
}
