import LineFiles

/// Writes data to standard output.
enum Output {
  /// - Throws: `LineFileError` when standard output cannot be written, for instance because the reader has gone.
  static func print(_ text: String) throws(LineFileError) {
    var writer = try LineWriter(path: "-")
    try writer.append(text)
    try writer.close()
  }

  /// Writes a JSON value and a line feed.
  /// - Throws: `LineFileError` when standard output cannot be written.
  static func print(_ json: [UInt8]) throws(LineFileError) {
    var writer = try LineWriter(path: "-")
    try writer.append(json)
    try writer.endLine()
    try writer.close()
  }
}
