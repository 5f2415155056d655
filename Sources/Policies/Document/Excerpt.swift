/// Quotations from a document in messages, kept short.
enum Excerpt {
  private static let charactersMax = 40

  /// Returns the text in quotation marks, cut after 40 characters.
  static func quoted(_ text: String) -> String { "\"\(short(text))\"" }

  /// Returns the text on one line, cut after 40 characters.
  static func short(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars.prefix(charactersMax) {
      shown.unicodeScalars.append(scalar.value < 0x20 ? " " : scalar)
    }
    return text.unicodeScalars.count > charactersMax ? shown + "…" : shown
  }
}
