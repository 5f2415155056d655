import Foundation

/// Reads the line-oriented files under `/proc`.
enum ProcFile {
  /// Returns the rest of the first line that begins with `key`; nil when the file or the line does not exist.
  static func value(of key: String, in path: String) -> Substring? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.dropFirst(key.count)
  }
}
