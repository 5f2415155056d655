import Domain

/// Converts the enum values of the domain from and to their numbers in the file.
extension NumberedCode {
  var code: Int64 { Int64(number) }

  /// Creates the value with a stored number.
  /// - Throws: `StoredValueError` if no value has the number.
  init(code: Int64) throws {
    self = try known(UInt8(exactly: code).flatMap { Self(number: $0) }, Self.stored, code)
  }

  /// The name of the type in messages: `reason`.
  private static var stored: String { "\(Self.self)".lowercased() }
}

extension AuditTopic {
  var code: Int64 {
    switch self {
    case .decisions: 0
    case .commands: 1
    }
  }
  init?(code: Int64) {
    guard let topic = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = topic
  }
}

extension AuditHole.HoleCause {
  var code: Int64 {
    switch self {
    case .refused: 0
    case .passedOver: 1
    case .removed: 2
    }
  }

  /// Creates the cause with a stored number.
  /// - Throws: `StoredValueError` if no cause has the number.
  init(code: Int64) throws {
    self = try known(Self.allCases.first { $0.code == code }, "cause of a hole", code)
  }
}

/// The verdict, the reason and `final` of a decision, which one column stores as one number.
struct DecisionCode: Hashable {
  var verdict: Verdict
  var reason: Reason
  var final: Bool

  var code: Int64 { reason.code << 3 | verdict.code << 1 | (final ? 1 : 0) }

  init(_ decision: Decision) {
    verdict = decision.verdict
    reason = decision.reason
    final = decision.final
  }

  init(code: Int64) throws {
    reason = try Reason(code: code >> 3)
    verdict = try Verdict(code: code >> 1 & 3)
    final = code & 1 == 1
  }
}

private func known<T>(_ value: T?, _ what: String, _ code: Int64) throws -> T {
  guard let value else {
    throw StoredValueError(reason: "holds the unknown \(what) number \(code)")
  }
  return value
}
