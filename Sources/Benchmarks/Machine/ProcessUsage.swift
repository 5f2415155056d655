import Foundation

/// The elapsed time and the processor time of this process, in seconds: at one moment, or between two moments.
package struct ProcessUsage {
  /// The elapsed time by ``MonotonicClock``.
  package var wallSeconds: Double
  /// User and system time of all threads, librdkafka's included.
  package var processorSeconds: Double
  /// User and system time of librdkafka's threads that run at the later moment, in steps of a hundredth of a second; 0 where the system does
  /// not tell. They wait for a busy broker in a loop, so their time says little about the work.
  package var kafkaSeconds: Double

  /// Returns the usage since the start of the process.
  package static func now() -> ProcessUsage {
    ProcessUsage(
      wallSeconds: MonotonicClock.seconds(), processorSeconds: Double(clock()) / Double(CLOCKS_PER_SEC),
      kafkaSeconds: kafkaThreads())
  }

  /// Returns the usage between two moments.
  package static func - (later: ProcessUsage, earlier: ProcessUsage) -> ProcessUsage {
    ProcessUsage(
      wallSeconds: later.wallSeconds - earlier.wallSeconds,
      processorSeconds: later.processorSeconds - earlier.processorSeconds,
      kafkaSeconds: max(0, later.kafkaSeconds - earlier.kafkaSeconds))
  }

  /// Returns the processor time of the threads that librdkafka has named.
  private static func kafkaThreads() -> Double {
    let folder = "/proc/self/task"
    var ticks = 0
    do {
      for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
        // The name may have blanks, so the numbers are counted from the parenthesis behind it.
        guard let stat = ProcFile.value(of: "\(thread) (rdk:", in: "\(folder)/\(thread)/stat") else { continue }
        let numbers = stat.split(separator: ")").last?.split(separator: " ") ?? []
        // proc(5) has user and system time as the fields 14 and 15; the first one here is the third.
        guard numbers.count > 12, let user = Int(numbers[11]), let system = Int(numbers[12]) else { continue }
        ticks += user + system
      }
    } catch {
      return 0
    }
    return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
