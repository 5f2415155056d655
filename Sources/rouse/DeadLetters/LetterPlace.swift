import ArgumentParser
import Domain
import KafkaClient

/// The place of a record on the command line: `topic[partition]@offset`.
enum LetterPlace {
  /// Reads a place.
  ///
  /// - Parameters:
  ///   - text: The argument.
  ///   - source: The end of the error message, which tells where to find a place.
  /// - Throws: `ValidationError` when the text is no place.
  static func parse(_ text: String, source: PrintableText = "rouse dead-letters list shows it") throws -> KafkaPosition
  {
    guard let at = text.lastIndex(of: "@"), let offset = Int64(text[text.index(after: at)...]), offset >= 0,
      let open = text[..<at].lastIndex(of: "["), text[..<at].last == "]", open > text.startIndex,
      let partition = Int32(text[text.index(after: open)..<text.index(before: at)]), partition >= 0
    else { throw ValidationError("\(text): expected topic[partition]@offset, as \(source)") }
    return KafkaPosition(KafkaTopicPartition(topic: String(text[..<open]), partition: partition), offset: offset)
  }
}
