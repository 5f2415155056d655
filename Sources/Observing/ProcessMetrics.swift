import Foundation

/// The metrics of the process itself, under the names that Prometheus libraries use for them. They are read from `/proc` at each
/// exposition; on systems without it they have no values.
public enum ProcessMetrics {
  public static let descriptions = [startTime, processor, memory, openFiles, maxFiles]

  private static let startTime = MetricDescription(
    "process_start_time_seconds", .gauge, help: "Time at which the process started, in seconds since 1970",
    advice: "A value that changes often is a process that restarts: its last log lines say why.")
  private static let processor = MetricDescription(
    "process_cpu_seconds_total", .counter, help: "Processor time of all threads, user and system",
    advice: "A rate near the number of cores: add processes, or cores with more `planner.workers`.")
  private static let memory = MetricDescription(
    "process_resident_memory_bytes", .gauge, help: "Resident memory",
    advice: "It follows the devices, not the traffic. Compare it with rouse_planner_devices.")
  private static let openFiles = MetricDescription(
    "process_open_fds", .gauge, help: "Open file descriptors",
    advice: "Near process_max_fds: raise the limit (LimitNOFILE of systemd). Each broker connection is one.")
  private static let maxFiles = MetricDescription(
    "process_max_fds", .gauge, help: "The limit of open file descriptors",
    advice: "Below 4096: raise it, because each client opens a connection to each broker.")

  /// Adds the metrics of this process to a registry.
  ///
  /// - Parameter registry: The registry.
  public static func add(to registry: MetricRegistry) {
    let (start, cpu, memory, open, max) = (
      registry.add(startTime), registry.add(processor), registry.add(memory), registry.add(openFiles),
      registry.add(maxFiles)
    )
    start.set((Date().timeIntervalSince1970 - (age ?? 0)).rounded())
    registry.collect {
      if let seconds = processorSeconds { cpu.set(seconds) }
      if let bytes = residentBytes { memory.set(bytes) }
      if let count = openCount { open.set(Double(count)) }
      if let limit = openMax { max.set(limit) }
    }
  }

  /// The time since the start of the process, in seconds.
  private static var age: Double? {
    guard let started = statFields.flatMap({ $0.count > 19 ? Double($0[19]) : nil }),
      let up = text("/proc/uptime")?.split(separator: " ").first.flatMap({ Double($0) })
    else { return nil }
    return max(0, up - started / ticksPerSecond)
  }

  private static var processorSeconds: Double? {
    guard let fields = statFields, fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12])
    else { return nil }
    return (user + system) / ticksPerSecond
  }

  private static var residentBytes: Double? {
    text("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
      .map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
  }

  private static var openCount: Int? {
    // One of the descriptors is that of the listing itself.
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
  }

  private static var openMax: Double? {
    text("/proc/self/limits")?.split(separator: "\n").first { $0.hasPrefix("Max open files") }?
      .split(separator: " ").dropFirst(3).first.flatMap { Double($0) }
  }

  private static var ticksPerSecond: Double { Double(sysconf(Int32(_SC_CLK_TCK))) }

  /// The fields of `/proc/self/stat` behind the name of the program, which may contain spaces.
  private static var statFields: [Substring]? {
    text("/proc/self/stat")?.split(separator: ")").last?.split(separator: " ")
  }

  /// The content of a file, as text; nil if the system has no such file.
  private static func text(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }
}
