import ArgumentParser
import Benchmarks
import JSON
import KafkaClient

/// The beginning of the report of a benchmark with a broker: the machine, the broker, the planners and the fleet.
struct BenchReportHead {
  /// The broker's address and properties, without secrets.
  var broker: String
  /// The number of partitions of each topic.
  var partitions: Int
  /// The number of planner threads of a process.
  var workers: Int
  /// The number of devices of the fleet.
  var devices: Int
  /// The number of widgets of each device.
  var instances: Int

  /// The line about the broker, without its end.
  var brokerLine: String {
    "broker    \(broker), \(Digits.count(partitions, "partition")), \(Digits.count(workers, "planner"))"
  }

  /// Returns the lines of the report.
  /// - Parameters:
  ///   - planners: More words about the planners.
  ///   - fleet: More words about the fleet and its events.
  func text(planners: String = "", fleet: String = "") -> String {
    """
    \(BenchMachine.lines)
    \(brokerLine)\(planners)
    fleet     \(Digits.count(devices, "device")) × \(instances)\(fleet)

    """
  }

  /// Writes the members of an open JSON object.
  func write(to json: inout JSONWriter) {
    BenchMachine.write(to: &json)
    json.member("broker", broker)
    json.members([
      ("partitions", partitions), ("workers", workers), ("devices", devices), ("instancesPerDevice", instances),
    ])
  }
}

/// Prints the machine and the program that a figure was measured with.
enum BenchMachine {
  /// The processor and its cores. The text warns of a debug build.
  static var text: String {
    let build = BenchmarkMachine.isDebugBuild ? ", debug build: the figures mean nothing" : ""
    let cores = Digits.count(BenchmarkMachine.cores, "core")
    return "\(BenchmarkMachine.processor ?? "unknown processor"), \(cores)\(build)"
  }

  /// The versions of Rouse, the compiler and librdkafka.
  static var versions: String {
    "rouse \(Rouse.configuration.version), \(BenchmarkMachine.compiler), librdkafka \(KafkaLibrary.version)"
  }

  /// The lines of a report about the machine and the versions, without the end of the last one.
  static var lines: String { "machine   \(text)\nversions  \(versions)" }

  /// Writes the machine and the versions as members of an open JSON object.
  static func write(to json: inout JSONWriter) {
    json.member("processor", BenchmarkMachine.processor ?? "unknown")
    json.member("cores", BenchmarkMachine.cores)
    json.member("memoryBytes", BenchmarkMachine.memoryBytes)
    json.member("build", BenchmarkMachine.isDebugBuild ? "debug" : "release")
    json.member("rouse", Rouse.configuration.version)
    json.member("compiler", BenchmarkMachine.compiler)
    json.member("librdkafka", KafkaLibrary.version)
  }
}
