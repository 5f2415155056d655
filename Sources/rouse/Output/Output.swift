import Domain
import JSON
import LineFiles

/// Writes answers to standard output. Text for people is a `PrintableText`, so that no value from outside can command a
/// terminal. In data for programs such characters are escapes of JSON, which mean the same.
enum Output {
  /// Writes text for people.
  /// - Throws: `LineFileError` when standard output cannot be written, for instance because the reader has gone.
  static func print(_ text: PrintableText) throws(LineFileError) { try write(text.description) }

  /// Writes a JSON value and a line feed.
  /// - Throws: `LineFileError` when standard output cannot be written.
  static func print(_ json: [UInt8]) throws(LineFileError) {
    var writer = try LineWriter(path: "-")
    try writer.append(PrintableJSON.escape(json))
    try writer.endLine()
    try writer.close()
  }

  /// Writes lines of JSON, or text of this program.
  /// - Throws: `LineFileError` when standard output cannot be written.
  static func print(data: String) throws(LineFileError) {
    try write(String(decoding: PrintableJSON.escape(Array(data.utf8)), as: UTF8.self))
  }

  private static func write(_ text: String) throws(LineFileError) {
    var writer = try LineWriter(path: "-")
    try writer.append(text)
    try writer.close()
  }
}
