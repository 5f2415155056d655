import Domain
import Serving

/// The tag of a registration, as the headers `ETag`, `If-Match` and `If-None-Match` have it.
struct EntityTag: Sendable, Equatable {
  /// The text, with quotation marks.
  let text: String

  /// The hexadecimal digits of SHA-256 that a tag has.
  private static let digits = 32

  /// Makes the tag of a registration.
  ///
  /// - Parameter value: The registration, as it was written.
  init(_ value: [UInt8]) { text = "\"\(SHA256.hexDigest(of: value).prefix(Self.digits))\"" }

  /// Returns whether a header names the registration in force.
  ///
  /// - Parameters:
  ///   - header: The value of the header: tags, or `*` for any registration.
  ///   - tag: The tag of the registration in force; nil if there is none.
  ///   - isWeak: Whether weak tags count (RFC 9110, 8.8.3.2): they do in `If-None-Match`, and not in `If-Match`.
  static func names(_ header: String, _ tag: EntityTag?, isWeak: Bool) -> Bool {
    guard let tag else { return false }
    let wanted = ["*", tag.text] + (isWeak ? ["W/\(tag.text)"] : [])
    // A tag of this gateway holds no comma.
    return header.split(separator: ",").map { $0.drop { $0 == " " || $0 == "\t" } }
      .map { String($0.prefix { $0 != " " && $0 != "\t" }) }.contains { wanted.contains($0) }
  }
}
