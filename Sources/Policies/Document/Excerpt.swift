/// Parts of a document inside messages, kept short.
enum Excerpt {
  private static let charactersMax = 40

  /// The text in quotation marks.
  static func quoted(_ text: String) -> String { "\"\(short(text))\"" }

  /// The text on one line, cut after 40 characters.
  static func short(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars.prefix(charactersMax) {
      shown.unicodeScalars.append(scalar.value < 0x20 ? " " : scalar)
    }
    return text.unicodeScalars.count > charactersMax ? shown + "…" : shown
  }
}
