import ArgumentParser
import Benchmarks
import JSON
import KafkaClient

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
