import Foundation

enum Memory {
  /// The memory of this process, from `/proc/self/statm`.
  static func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
  }
}
