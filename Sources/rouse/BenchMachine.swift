import JSON

/// The machine that a figure belongs to.
enum BenchMachine {
  static var text: String {
    let build = isDebug ? ", debug build: the figures mean nothing" : ""
    return "\(Machine.model ?? "unknown processor"), \(Digits.count(Machine.cores, "core"))\(build)"
  }

  static func write(to json: inout JSONWriter) {
    json.key("processor")
    json.string(Machine.model ?? "unknown")
    json.key("cores")
    json.integer(Machine.cores)
    json.key("build")
    json.string(isDebug ? "debug" : "release")
  }

  private static var isDebug: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }
}
