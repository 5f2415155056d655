import Foundation
import JSON

/// What the process and its machine say about themselves. Nil where the system does not tell.
enum Machine {
  /// Largest resident size of this process so far.
  static var peakBytes: Int? { status("VmHWM:") }

  /// Resident size of this process.
  static var residentBytes: Int? { status("VmRSS:") }

  static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }

  static var model: String? {
    value(of: "model name", in: "/proc/cpuinfo").map { $0.drop { $0 == ":" || $0 == " " || $0 == "\t" } }.map(
      String.init)
  }

  /// Seconds since an arbitrary moment, for differences.
  static func seconds() -> Double {
    let span = start.duration(to: .now)
    return Double(span.components.seconds) + Double(span.components.attoseconds) / 1e18
  }

  private static let start = ContinuousClock.now

  private static func status(_ key: String) -> Int? {
    guard let text = value(of: key, in: "/proc/self/status") else { return nil }
    return text.split { !$0.isNumber }.first.flatMap { Int($0) }.map { $0 << 10 }
  }

  private static func value(of key: String, in path: String) -> Substring? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.dropFirst(key.count)
  }
}
