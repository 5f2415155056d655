import Domain
import Serving

/// The tag of a registration, as the headers `ETag` and `If-Match` have it.
struct EntityTag: Sendable, Equatable {
  /// The text, with quotation marks.
  let text: String

  /// The hexadecimal digits of SHA-256 that a tag has.
  private static let digits = 32

  /// Makes the tag of a registration.
  ///
  /// - Parameter value: The registration, as it was written.
  init(_ value: [UInt8]) { text = "\"\(SHA256.hexDigest(of: value).prefix(Self.digits))\"" }

  /// Returns whether a header `If-Match` allows a change.
  ///
  /// - Parameters:
  ///   - header: The value of the header: tags, or `*` for any registration.
  ///   - tag: The tag of the registration in force; nil if there is none.
  static func allows(_ header: String, _ tag: EntityTag?) -> Bool {
    guard let tag else { return false }
    // A tag of this gateway holds no comma. Weak tags never match, as RFC 9110 says.
    return header.split(separator: ",").map { $0.drop { $0 == " " || $0 == "\t" } }
      .map { String($0.prefix { $0 != " " && $0 != "\t" }) }.contains { $0 == "*" || $0 == tag.text }
  }
}
