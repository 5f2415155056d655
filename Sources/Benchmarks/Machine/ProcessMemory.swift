import Foundation

/// The resident memory of this process, in bytes, as Linux reports it. Other systems give nil.
package enum ProcessMemory {
  /// The largest resident size since the start of the process or the last ``restartPeak()``.
  package static var peakBytes: Int? { bytes(of: "VmHWM:") }

  /// The resident size at this moment.
  package static var residentBytes: Int? { bytes(of: "VmRSS:") }

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
