import Benchmarks
import Domain
import Foundation

/// The clock and the memory of this process, for progress lines and summaries.
enum Machine {
  /// The largest resident size of this process so far, in bytes; nil if the system does not report it.
  static var peakBytes: Int? { ProcessMemory.peakBytes }

  /// The wall clock.
  static var now: Timestamp { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)) }

  /// Returns the seconds of a clock that never runs backwards, for differences.
  static func seconds() -> Double { MonotonicClock.seconds() }
}
