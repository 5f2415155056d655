import Foundation

/// Writes words for people to standard error. Write failures are ignored.
enum Words {
  /// Writes a line.
  static func say(_ text: String) { show(text + "\n") }

  /// Writes text without a line feed.
  static func show(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
