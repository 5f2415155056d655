public import JSON

/// What a ledger check found.
public struct LedgerReport: Equatable, Sendable {
  /// What can be wrong. The raw value stands in the JSON report.
  public enum Rule: String, CaseIterable, Sendable {
    /// A record that is no decision or no command.
    case unreadable
    /// One id with two different contents.
    case idReused
    /// Two final decisions about one event and instance.
    case decidedTwice
    /// A verdict, its `final`, its command that do not go together.
    case inconsistent
    /// A command that no decision caused, or that several did.
    case unexplainedCommand
    /// A decision names a command that is not there.
    case missingCommand
    /// A command says that it serves something else than its decisions say.
    case servesDiffer
    /// A ledger lost more than one token, or went up where nothing refills it.
    case ledgerBroken
    /// More tokens spent than the limit gives.
    case overspent
  }

  public struct Violation: Equatable, Sendable {
    public var rule: Rule
    /// Ids and figures.
    public var text: String
  }

  public var decisions = 0
  public var commands = 0
  /// Records that came again, byte for byte.
  public var repeatedDecisions = 0
  public var repeatedCommands = 0
  /// (event, device, instance) with a final decision.
  public var closed = 0
  /// … that only wait so far.
  public var open = 0
  /// … that were only ever repeated deliveries of an event decided earlier than the records at hand, or before the
  /// instance was there.
  public var repeatedDeliveries = 0
  public var charges = 0
  public var ledgers = 0
  /// Charges of rate ledgers that were recomputed, and those whose limits or history are not known.
  public var chargesRecomputed = 0
  public var chargesNotRecomputed = 0
  /// Tokens that came back to a day's ledger in the middle of its window, where that was allowed.
  public var refunds = 0
  public var violationCount = 0
  public var violationsByRule: [Rule: Int] = [:]
  /// The first of each rule.
  public var violations: [Violation] = []

  static let examplesMax = 5

  public init() {}

  mutating func add(_ rule: Rule, _ text: @autoclosure () -> String) {
    violationCount += 1
    let count = violationsByRule[rule, default: 0]
    violationsByRule[rule] = count + 1
    if count < Self.examplesMax { violations.append(Violation(rule: rule, text: text())) }
  }

  /// For people.
  public var text: String {
    var text = """
      \(decisions) decisions (\(repeatedDecisions) repeated), \(commands) commands (\(repeatedCommands) repeated)
      \(closed) of (event, device, instance) decided, \(open) still waiting, \(repeatedDeliveries) repeated deliveries
      \(charges) charges on \(ledgers) ledgers; rates: \(chargesRecomputed) recomputed, \(chargesNotRecomputed) not; \
      \(refunds) refunds

      """
    if violationCount == 0 { return text + "no violation\n" }
    text += "\(violationCount) violations\n"
    for rule in Rule.allCases {
      guard let count = violationsByRule[rule] else { continue }
      text += "\(rule.rawValue): \(count)\n"
      for violation in violations where violation.rule == rule { text += "  \(violation.text)\n" }
      if count > Self.examplesMax { text += "  … and \(count - Self.examplesMax) more\n" }
    }
    return text
  }

  /// For programs.
  public func encode(to json: inout JSONWriter) {
    json.beginObject()
    for (name, value) in [
      ("decisions", decisions), ("commands", commands), ("repeatedDecisions", repeatedDecisions),
      ("repeatedCommands", repeatedCommands), ("closed", closed), ("open", open),
      ("repeatedDeliveries", repeatedDeliveries), ("charges", charges), ("ledgers", ledgers),
      ("chargesRecomputed", chargesRecomputed), ("chargesNotRecomputed", chargesNotRecomputed),
      ("refunds", refunds), ("violationCount", violationCount),
    ] {
      json.key(name)
      json.integer(value)
    }
    json.key("violations")
    json.beginArray()
    for violation in violations {
      json.beginObject()
      json.key("rule")
      json.string(violation.rule.rawValue)
      json.key("text")
      json.string(violation.text)
      json.endObject()
    }
    json.endArray()
    json.endObject()
  }
}
