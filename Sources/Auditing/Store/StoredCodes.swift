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

/// The verdict, the reason, `final` and `objective` of a decision, which one column stores as one number.
struct DecisionCode: Hashable {
  var verdict: Verdict
  var reason: Reason
  var final: Bool
  var objective: ObjectiveResult?

  /// From the lowest bit on: 1 bit for `final`, 2 for the verdict, 8 for the reason, 2 for the objective.
  var code: Int64 { Self.objectiveCode(objective) << 11 | reason.code << 3 | verdict.code << 1 | (final ? 1 : 0) }

  /// Returns the bits that the codes of the decisions of a filter have: those below the mask equal the value.
  static func bits(of filter: DecisionFilter) -> (mask: Int64, value: Int64) {
    var (mask, value): (Int64, Int64) = (0, 0)
    func want(_ bits: Int64, _ code: Int64?, at place: Int64) {
      guard let code else { return }
      mask |= bits << place
      value |= code << place
    }
    want(1, filter.final.map { $0 ? 1 : 0 }, at: 0)
    want(3, filter.verdict?.code, at: 1)
    want(0xff, filter.reason?.code, at: 3)
    want(3, filter.objective.map(objectiveCode), at: 11)
    return (mask, value)
  }

  /// The bits of a code without those of the objective.
  static let withoutObjective: Int64 = 0x7ff
  /// The least code of a decision with a result against an objective.
  static let objectiveMin: Int64 = 0x800

  private static func objectiveCode(_ objective: ObjectiveResult?) -> Int64 {
    switch objective {
    case nil: 0
    case .met: 1
    case .missed: 2
    }
  }

  init(_ line: DecisionLine) {
    verdict = line.verdict
    reason = line.reason
    final = line.final
    objective = line.objective
  }

  init(code: Int64) throws {
    reason = try Reason(code: code >> 3 & 0xff)
    verdict = try Verdict(code: code >> 1 & 3)
    final = code & 1 == 1
    switch code >> 11 {
    case 0: objective = nil
    case 1: objective = .met
    case 2: objective = .missed
    default: throw StoredValueError(reason: "holds the unknown result of an objective number \(code >> 11)")
    }
  }
}

/// `what` is made for an error only: a question converts a code of each line that it reads.
private func known<T>(_ value: T?, _ what: @autoclosure () -> String, _ code: Int64) throws -> T {
  guard let value else {
    throw StoredValueError(reason: "holds the unknown \(what()) number \(code)")
  }
  return value
}
