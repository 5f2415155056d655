import ArgumentParser
import Foundation
import JSON
import KafkaClient

/// The machine and the program that a figure belongs to.
enum BenchMachine {
  static var text: String {
    let build = isDebug ? ", debug build: the figures mean nothing" : ""
    return "\(Machine.model ?? "unknown processor"), \(Digits.count(Machine.cores, "core"))\(build)"
  }

  /// What runs: for figures in which Kafka has a part.
  static var versions: String {
    "rouse \(Rouse.configuration.version), \(compiler), librdkafka \(KafkaLibrary.version)"
  }

  static func write(to json: inout JSONWriter) {
    json.key("processor")
    json.string(Machine.model ?? "unknown")
    json.key("cores")
    json.integer(Machine.cores)
    json.key("memoryBytes")
    json.integer(Int(clamping: ProcessInfo.processInfo.physicalMemory))
    json.key("build")
    json.string(isDebug ? "debug" : "release")
    json.key("rouse")
    json.string(Rouse.configuration.version)
    json.key("compiler")
    json.string(compiler)
    json.key("librdkafka")
    json.string(KafkaLibrary.version)
  }

  private static var compiler: String {
    #if compiler(>=6.4)
      "Swift 6.4 or later"
    #elseif compiler(>=6.3)
      "Swift 6.3"
    #else
      "Swift 6.2"
    #endif
  }

  private static var isDebug: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }
}
