import Domain

/// The numbers that stand for the domain's words in the file. A number is never given to another word.
extension Reason {
  var code: Int64 {
    switch self {
    case .duplicate: 1
    case .staleEvent: 2
    case .noMatch: 3
    case .cosmetic: 4
    case .notVisible: 5
    case .noToken: 6
    case .tokenDead: 7
    case .unsupportedOS: 8
    case .payloadTooLarge: 9
    case .kindDisabled: 10
    case .appForeground: 11
    case .reloadImminent: 12
    case .quietHours: 13
    case .minInterval: 14
    case .budgetInstance: 15
    case .budgetDevice: 16
    case .budgetApp: 17
    case .reserveHeld: 18
    case .belowPrice: 19
    case .belowFloor: 20
    case .emitted: 21
    case .emittedAfterDefer: 22
    case .emittedCoalesced: 23
    case .emittedShared: 24
    case .superseded: 25
    case .expired: 26
    case .freshened: 27
    case .instanceRemoved: 28
    case .emittedFree: 29
    case .activityEnded: 30
    case .alreadyStarted: 31
    case .endedQuiet: 32
    }
  }
  private static let byCode = Dictionary(uniqueKeysWithValues: allCases.map { ($0.code, $0) })
  init(code: Int64) throws { self = try known(Self.byCode[code], "reason", code) }
}

extension Verdict {
  var code: Int64 {
    switch self {
    case .emit: 0
    case .defer: 1
    case .coalesce: 2
    case .suppress: 3
    }
  }
  init(code: Int64) throws { self = try known(Self.allCases.first { $0.code == code }, "verdict", code) }
}

extension Surface {
  var code: Int64 {
    switch self {
    case .widget: 0
    case .control: 1
    case .liveActivity: 2
    case .background: 3
    case .broadcast: 4
    }
  }
  init(code: Int64) throws { self = try known(Self.allCases.first { $0.code == code }, "surface", code) }
}

extension Command.Ledger {
  var code: Int64 {
    switch self {
    case .instance: 1
    case .device: 2
    case .background: 3
    case .app: 4
    case .control: 5
    case .activity: 6
    case .start: 7
    }
  }
  init(code: Int64) throws { self = try known(Self.allCases.first { $0.code == code }, "ledger", code) }
}

extension Registration.Environment {
  var code: Int64 {
    switch self {
    case .production: 0
    case .sandbox: 1
    }
  }
  init(code: Int64) throws { self = try known(Self.allCases.first { $0.code == code }, "environment", code) }
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

/// Verdict, reason and final in one number.
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

/// A stored row that this program cannot read: the file is damaged.
struct StoredValueError: Error {
  var reason: String
}
