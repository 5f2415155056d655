import Foundation

/// The machine and the build that a figure was measured with.
package enum BenchmarkMachine {
  /// The processor's name as Linux reports it; nil on other systems.
  package static var processor: String? {
    ProcFile.value(of: "model name", in: "/proc/cpuinfo").map { rest in
      String(rest.drop { $0 == ":" || $0 == " " || $0 == "\t" })
    }
  }

  /// The number of processor cores that this process may use.
  package static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }

  /// The physical memory of the machine, in bytes.
  package static var memoryBytes: Int { Int(clamping: ProcessInfo.processInfo.physicalMemory) }

  /// The version of the compiler that built this program, such as `Swift 6.3`.
  package static var compiler: String {
    #if compiler(>=6.4)
      "Swift 6.4 or later"
    #elseif compiler(>=6.3)
      "Swift 6.3"
    #else
      "Swift 6.2"
    #endif
  }

  /// Whether this is a debug build, whose figures are meaningless.
  package static var isDebugBuild: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }
}
