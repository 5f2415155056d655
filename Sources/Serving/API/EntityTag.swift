/// The tag of a version of something, as the headers `ETag`, `If-Match` and `If-None-Match` have it.
public struct EntityTag: Sendable, Equatable {
  /// The text, with quotation marks.
  public let text: String

  /// Makes a tag.
  ///
  /// - Parameter name: The name of the version: letters and digits.
  public init(_ name: some StringProtocol) { text = "\"\(name)\"" }

  /// Returns whether a header names the version in force.
  ///
  /// - Parameters:
  ///   - header: The value of the header: tags, or `*` for any version.
  ///   - tag: The tag of the version in force; nil if there is none.
  ///   - isWeak: Whether weak tags count (RFC 9110, 8.8.3.2): they do in `If-None-Match`, and not in `If-Match`.
  public static func names(_ header: String, _ tag: EntityTag?, isWeak: Bool) -> Bool {
    guard let tag else { return false }
    let wanted = ["*", tag.text] + (isWeak ? ["W/\(tag.text)"] : [])
    // No tag of this project holds a comma.
    return header.split(separator: ",").map { $0.drop { $0 == " " || $0 == "\t" } }
      .map { String($0.prefix { $0 != " " && $0 != "\t" }) }.contains { wanted.contains($0) }
  }
}
