import Foundation
import Glibc

/// The elapsed time and the processor time of this process, in seconds: at one moment, or between two moments.
package struct ProcessUsage {
  /// The elapsed time by ``MonotonicClock``.
  package var wallSeconds: Double
  /// User and system time of all threads, librdkafka's included.
  package var processorSeconds: Double

  /// Returns the usage since the start of the process.
  package static func now() -> ProcessUsage {
    ProcessUsage(wallSeconds: MonotonicClock.seconds(), processorSeconds: Double(clock()) / Double(CLOCKS_PER_SEC))
  }

  /// Returns the usage between two moments.
  package static func - (later: ProcessUsage, earlier: ProcessUsage) -> ProcessUsage {
    ProcessUsage(
      wallSeconds: later.wallSeconds - earlier.wallSeconds,
      processorSeconds: later.processorSeconds - earlier.processorSeconds)
  }
}

/// The resident memory of this process, in bytes, as Linux reports it. Other systems give nil.
package enum ProcessMemory {
  /// The largest resident size since the start of the process or the last ``restartPeak()``.
  package static var peakBytes: Int? { bytes(of: "VmHWM:") }

  /// The resident size after the allocator has given back what is free. mimalloc keeps freed memory for a while, in which a size
  /// would depend on what was freed last.
  package static var residentBytes: Int? {
    giveBackFreeMemory()
    return bytes(of: "VmRSS:")
  }

  /// Calls `mi_collect` of mimalloc, with which release builds are linked; does nothing in a program without it.
  private static func giveBackFreeMemory() {
    typealias Collect = @convention(c) (Bool) -> Void
    guard let symbol = unsafe dlsym(nil, "mi_collect") else { return }
    // The symbol is `void mi_collect(bool force)`, which may be called at any time and by any thread.
    unsafe unsafeBitCast(symbol, to: Collect.self)(true)
  }

  /// Restarts ``peakBytes`` from the current resident size.
  ///
  /// If the system refuses, ``peakBytes`` remains the peak of the whole process life, which is never smaller.
  package static func restartPeak() {
    try? FileHandle(forWritingTo: URL(fileURLWithPath: "/proc/self/clear_refs")).write(contentsOf: Data("5".utf8))
  }

  /// Reads a line such as `VmHWM:  12345 kB`, whose unit is always KiB.
  private static func bytes(of key: String) -> Int? {
    guard let text = ProcFile.value(of: key, in: "/proc/self/status") else { return nil }
    return text.split { !$0.isNumber }.first.flatMap { Int($0) }.map { $0 << 10 }
  }
}

/// Reads the line-oriented files under `/proc`.
enum ProcFile {
  /// Returns the rest of the first line that begins with `key`; nil when the file or the line does not exist.
  static func value(of key: String, in path: String) -> Substring? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.dropFirst(key.count)
  }
}
