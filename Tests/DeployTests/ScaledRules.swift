import Foundation
import Testing

/// The alert rules on a shorter scale: each window, each `for` and each threshold that is a time is divided. So a test sees within
/// seconds what takes minutes otherwise. Rates, counts and shares stay as they are.
struct ScaledRules {
  /// The rules, as Prometheus reads them.
  let text: String

  /// Divides the times of the rules in `alerts.yaml`.
  /// - Parameter divisor: 60 makes a second of a minute.
  /// - Throws: when the file cannot be read, or has a time that is not understood.
  init(dividedBy divisor: Int) throws {
    let rules = try String(contentsOf: Tool.observability.appending(path: "alerts.yaml"), encoding: .utf8)
    let times = rules.replacing(/(\[|offset |for: )(\d+)(s|m|h|d)\b/) { match in
      let seconds = ["s": 1, "m": 60, "h": 3600, "d": 86_400][match.3, default: 1]
      return "\(match.1)\((Int(match.2) ?? 0) * seconds * 1000 / divisor)ms"
    }
    text = times.replacing(/(\d+)  # seconds/) { "\((Double($0.1) ?? 0) / Double(divisor))" }
    try #require(text.firstMatch(of: /(\[|offset |for: )\d+[smhd]\b|# seconds\n/) == nil)
  }
}
