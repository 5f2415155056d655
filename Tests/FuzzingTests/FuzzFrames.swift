/// Inputs of several chunks. A chunk is its length in two bytes, low byte first, and its bytes. A length beyond the end takes
/// what is there, so any bytes are chunks.
enum FuzzFrames {
  /// Splits an input.
  static func split(_ bytes: [UInt8]) -> [[UInt8]] {
    var chunks: [[UInt8]] = []
    var place = 0
    while place + 2 <= bytes.count {
      let length = min(Int(bytes[place]) | Int(bytes[place + 1]) << 8, bytes.count - place - 2)
      chunks.append(Array(bytes[place + 2..<place + 2 + length]))
      place += 2 + length
    }
    return chunks
  }

  /// Writes an input. Chunks are cut at 65,535 bytes.
  static func join(_ chunks: [[UInt8]]) -> [UInt8] {
    chunks.reduce(into: []) { bytes, chunk in
      let length = min(chunk.count, 65_535)
      bytes += [UInt8(length & 0xff), UInt8(length >> 8)]
      bytes += chunk.prefix(length)
    }
  }
}
