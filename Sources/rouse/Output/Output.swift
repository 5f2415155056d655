import Domain
import LineFiles

/// Writes answers to standard output. Text for people is a `PrintableText`, so that no value from outside can command a
/// terminal; data for programs is written as it is.
enum Output {
  /// Writes text for people.
  /// - Throws: `LineFileError` when standard output cannot be written, for instance because the reader has gone.
  static func print(_ text: PrintableText) throws(LineFileError) { try write(text.description) }

  /// Writes a JSON value and a line feed.
  /// - Throws: `LineFileError` when standard output cannot be written.
  static func print(_ json: [UInt8]) throws(LineFileError) {
    var writer = try LineWriter(path: "-")
    try writer.append(json)
    try writer.endLine()
    try writer.close()
  }

  /// Writes data for programs, such as lines of JSON, as it is.
  /// - Throws: `LineFileError` when standard output cannot be written.
  static func print(data: String) throws(LineFileError) { try write(data) }

  private static func write(_ text: String) throws(LineFileError) {
    var writer = try LineWriter(path: "-")
    try writer.append(text)
    try writer.close()
  }
}
