import Foundation
import Glibc

/// Time of the wall and of all processors spent on this process, at one moment.
struct BenchUsage {
  var wallSeconds: Double
  var processorSeconds: Double

  static func now() -> BenchUsage {
    // User and system time of all threads, librdkafka's included.
    BenchUsage(wallSeconds: Machine.seconds(), processorSeconds: Double(clock()) / Double(CLOCKS_PER_SEC))
  }

  static func - (later: BenchUsage, earlier: BenchUsage) -> BenchUsage {
    BenchUsage(
      wallSeconds: later.wallSeconds - earlier.wallSeconds,
      processorSeconds: later.processorSeconds - earlier.processorSeconds)
  }
}

extension Machine {
  /// Makes ``peakBytes`` start anew from what is resident now. Where the system refuses, the peak stays that of the whole
  /// life of the process, which is larger.
  static func restartPeak() {
    try? FileHandle(forWritingTo: URL(fileURLWithPath: "/proc/self/clear_refs")).write(contentsOf: Data("5".utf8))
  }
}

extension Array where Element == Double {
  /// The middle value, or the mean of the two in the middle; nil of nothing.
  var median: Double? {
    guard !isEmpty else { return nil }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}
