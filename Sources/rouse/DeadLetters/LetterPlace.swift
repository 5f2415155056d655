import ArgumentParser
import Domain
import KafkaClient
import Operating

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

/// The reason code of dead letters, as `--reason` takes it. A code that this release does not know is taken, because a newer one may
/// have written the letters.
struct LetterReason: ExpressibleByArgument {
  /// The code, as it was given.
  let code: String

  /// Takes any text.
  init(argument: String) { code = argument }

  /// The codes that this release knows, or the nearest one, for a code that it does not know and that no letter has; nil for a known
  /// code.
  var hint: PrintableText? {
    let known = DeadLetterQueue.reasons
    if known.contains(code) { return nil }
    if let near = NearestName.of(code, among: known) { return "did you mean \(near)?" }
    return "the known reasons are \(known.joined(separator: ", "))"
  }
}
