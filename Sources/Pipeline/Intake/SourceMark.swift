import Domain
import KafkaClient

/// The metadata of a committed offset of intake: a fingerprint of the last consumed record, by which a later start sees
/// whether the topic is still the same.
struct SourceMark: Equatable {
  /// The generation of the partition; 0 if it is not known.
  var generation: Int64
  /// The fingerprint of the record before the committed offset.
  var last: Int64

  /// The mark as the text that is committed as the metadata of the offset.
  var text: String { "generation=\(generation) last=\(last)" }

  /// Makes a mark.
  init(generation: Int64, last: Int64) {
    self.generation = generation
    self.last = last
  }

  /// Reads a mark from the metadata of a committed offset. Nil for any other text, such as the empty one that a tool
  /// leaves when it moves offsets.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, words[0].hasPrefix("generation="), words[1].hasPrefix("last="),
      let generation = Int64(words[0].dropFirst("generation=".count)),
      let last = Int64(words[1].dropFirst("last=".count))
    else { return nil }
    self.init(generation: generation, last: last)
  }

  /// Returns 64 bits of FNV-1a over timestamp, key and value of a record; never 0.
  static func fingerprint(_ message: KafkaMessage) -> Int64 {
    var hash = FNV1a()
    let timestamp = UInt64(bitPattern: message.timestampMilliseconds ?? -1)
    for shift in stride(from: 0, to: 64, by: 8) { hash.add(UInt8(truncatingIfNeeded: timestamp >> UInt64(shift))) }
    for bytes in [message.key, message.value] {
      hash.add(bytes == nil ? 0 : 1)
      if let bytes { hash.add(bytes.span) }
    }
    return hash.value == 0 ? 1 : Int64(bitPattern: hash.value)
  }
}
