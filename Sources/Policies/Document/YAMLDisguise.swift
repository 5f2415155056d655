/// Replaces some characters of a document while libyaml and Yams read it. The texts that they return get their original
/// characters back afterwards.
///
/// - `*` is replaced, so that there are no aliases, which could multiply. `SourceText` refuses documents that contain its
///   replacement.
/// - Characters beyond ASCII are replaced by characters for private use. Yams compares keys as `String`, and so takes two
///   keys for one that differ in their bytes, such as `é` as one character and as `e` with an accent. Characters for private use
///   are equivalent to nothing else.
///
/// libyaml takes each replacement for a printable character, one column wide as the original is.
struct YAMLDisguise {
  /// The replacement of `*`.
  static let asterisk: Unicode.Scalar = "\u{E000}"
  /// The characters for private use of the planes 15 and 16.
  private static let replacements = [UInt32(0xF0000)...0xFFFFD, 0x100000...0x10FFFD]

  /// The originals, by replacement.
  private var originals: [Unicode.Scalar: Unicode.Scalar] = [asterisk: "*"]

  /// Disguises a text that `SourceText` has accepted. Its size bounds the number of different characters; should there
  /// be more than replacements, the others stay as they are.
  static func of(_ text: String) -> (disguise: YAMLDisguise, text: String) {
    var disguise = YAMLDisguise()
    var replaced: [Unicode.Scalar: Unicode.Scalar] = ["*": asterisk]
    var free = replacements.joined().lazy.compactMap(Unicode.Scalar.init).makeIterator()
    var disguised = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if let replacement = replaced[scalar] {
        disguised.append(replacement)
      } else if scalar.isASCII || SourceText.isLineEnd(scalar) {
        disguised.append(scalar)
      } else {
        let replacement = free.next() ?? scalar
        replaced[scalar] = replacement
        disguise.originals[replacement] = scalar
        disguised.append(replacement)
      }
    }
    return (disguise, String(disguised))
  }

  /// Returns a text with its original characters in place of the replacements.
  func restored(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { !$0.isASCII }) else { return text }
    var restored = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { restored.append(originals[scalar] ?? scalar) }
    return String(restored)
  }
}
