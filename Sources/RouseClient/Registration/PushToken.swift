public import Foundation

/// A push token, in the hexadecimal digits that APNs wants.
public struct PushToken: Sendable, Hashable, Codable {
  /// The digits.
  public let digits: String

  /// Makes a token of the bytes that WidgetKit, ActivityKit or UIKit hands over.
  ///
  /// - Parameter bytes: The bytes.
  public init(_ bytes: Data) {
    let all = Array("0123456789abcdef".utf8)
    digits = String(decoding: bytes.flatMap { [all[Int($0 >> 4)], all[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Makes a token of its digits.
  ///
  /// - Parameter digits: The digits. The gateway refuses what is not hexadecimal.
  public init(digits: String) { self.digits = digits }

  /// Reads the digits.
  ///
  /// - Throws: `DecodingError` if there is no text.
  public init(from decoder: any Decoder) throws { digits = try decoder.singleValueContainer().decode(String.self) }

  /// Writes the digits.
  ///
  /// - Throws: `EncodingError` of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(digits)
  }
}
