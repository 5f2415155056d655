import Domain
import Foundation
import JSON

/// Writes words for people to standard error. Write failures are ignored. Values in them are escaped by `PrintableText`.
enum Words {
  /// Writes a line to standard error.
  static func say(_ text: PrintableText) { show(text + "\n") }

  /// Writes text to standard error, without a line feed.
  static func show(_ text: PrintableText) { write(Data(text.description.utf8)) }

  /// Writes a JSON value and a line feed to standard error.
  static func say(json: [UInt8]) { write(Data(PrintableJSON.escape(json)) + [UInt8(ascii: "\n")]) }

  private static func write(_ data: Data) { try? FileHandle.standardError.write(contentsOf: data) }
}
