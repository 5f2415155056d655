public import Domain
public import JSON

/// The findings of a ledger check.
public struct LedgerReport: Equatable, Sendable {
  /// The rules that records can break. The raw value is used in the JSON report.
  public enum BookRule: String, CaseIterable, Sendable {
    /// The record is no decision or no command.
    case unreadable
    /// Two records with one id have different contents.
    case idReused
    /// Two final decisions are about one event and instance, and the later one is not that of a stale repeat.
    case decidedTwice
    /// The verdict, `final` and the command of a decision contradict each other.
    case inconsistent
    /// No decision caused the command, or several did.
    case unexplainedCommand
    /// A decision names a command that is missing.
    case missingCommand
    /// A command serves other instances or events than the decisions that name it.
    case servesDiffer
    /// A command charges an instance that its push does not reload, or does not charge one that it reloads.
    case chargesDiffer
    /// The tokens left after a charge do not follow from the limit and the earlier charges, or there is no limit.
    case ledgerBroken
    /// A charge came before a token was available or left less than none, or a day's tokens rose within its window.
    case overspent
  }

  /// One case of a broken rule.
  public struct Violation: Equatable, Sendable {
    public var rule: BookRule
    /// The ids and figures, for a person.
    public var text: String
  }

  /// The number of decisions, each id counted once.
  public var decisions = 0
  /// The number of commands, each id counted once.
  public var commands = 0
  /// The number of decisions that were read again under the same id.
  public var repeatedDecisions = 0
  /// The number of commands that were read again under the same id.
  public var repeatedCommands = 0
  /// The number of (event, device, instance) with a final decision.
  public var closed = 0
  /// The number of (event, device, instance) that are deferred and have no final decision.
  public var open = 0
  /// The number of (event, device, instance) with `DUPLICATE` decisions alone: the event was decided before the first record
  /// of the check, or before the device had the instance.
  public var repeatedDeliveries = 0
  /// The number of charges in all commands.
  public var charges = 0
  /// The number of ledgers with a charge.
  public var ledgers = 0
  /// The number of charges to rate ledgers that were recomputed.
  public var chargesRecomputed = 0
  /// The number of charges to rate ledgers whose limits or history are not known.
  public var chargesNotRecomputed = 0
  /// The number of charges to rate ledgers by each policy that was not named to the check, by the hash of the policy. At most
  /// `unknownPoliciesMax` policies.
  public var unknownPolicies: [Identifier: Int] = [:]
  /// The number of tokens that day ledgers regained in the middle of a window, if that is allowed.
  public var refunds = 0
  /// The number of all violations, also of those that `violations` leaves out.
  public var violationCount = 0
  /// The number of violations of each rule that has any.
  public var violationsByRule: [BookRule: Int] = [:]
  /// The first violations of each rule, in the order in which they were found.
  public var violations: [Violation] = []

  /// The number of violations of each rule that the report describes at most.
  let examplesMax: Int

  /// The number of policies that the report names because nobody named them to the check. Charges by further ones count only
  /// among those that were not recomputed.
  static let unknownPoliciesMax = 20

  /// Creates a report without findings.
  /// - Parameter examplesMax: The number of violations of each rule that it describes at most.
  public init(examplesMax: Int = LedgerCheck.examplesDefault) { self.examplesMax = examplesMax }

  /// Adds a violation.
  /// - Parameter text: evaluated only if the report has room for the violation.
  mutating func add(_ rule: BookRule, _ text: @autoclosure () -> String) {
    violationCount += 1
    let count = violationsByRule[rule, default: 0]
    violationsByRule[rule] = count + 1
    if count < examplesMax { violations.append(Violation(rule: rule, text: text())) }
  }

  /// Counts a charge by a policy that was not named to the check.
  mutating func addUnknownPolicy(_ hash: Identifier) {
    guard unknownPolicies[hash] != nil || unknownPolicies.count < Self.unknownPoliciesMax else { return }
    unknownPolicies[hash, default: 0] += 1
  }

  /// Stops a debug build unless the counts agree with each other.
  func checkInvariants() {
    assert(violationCount == violationsByRule.values.reduce(0, +), "the violations of all rules are all violations")
    for rule in BookRule.allCases {
      assert(
        violations.count { $0.rule == rule } == min(violationsByRule[rule] ?? 0, examplesMax),
        "the report describes the first violations of each rule")
    }
    assert(chargesRecomputed + chargesNotRecomputed <= charges, "no charge is counted twice")
    assert(ledgers <= charges, "each ledger has a charge")
  }
}

extension LedgerReport {
  /// Writes the report as one JSON object.
  public func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.members([
      ("decisions", decisions), ("commands", commands), ("repeatedDecisions", repeatedDecisions),
      ("repeatedCommands", repeatedCommands), ("closed", closed), ("open", open),
      ("repeatedDeliveries", repeatedDeliveries), ("charges", charges), ("ledgers", ledgers),
      ("chargesRecomputed", chargesRecomputed), ("chargesNotRecomputed", chargesNotRecomputed),
      ("refunds", refunds), ("violationCount", violationCount),
    ])
    json.objects("unknownPolicies", unknownPolicies.sorted { $0.key < $1.key }) { policy, json in
      json.member("hash", policy.key)
      json.member("charges", policy.value)
    }
    json.objects("violations", violations) { violation, json in
      json.member("rule", violation.rule.rawValue)
      json.member("text", violation.text)
    }
    json.endObject()
  }
}

extension LedgerReport {
  /// The report as lines of text for a person, each ending in a line feed. Values of the records are escaped.
  public var text: PrintableText {
    var text: PrintableText = """
      \(decisions) decisions (\(repeatedDecisions) repeated), \(commands) commands (\(repeatedCommands) repeated)
      \(closed) of (event, device, instance) decided, \(open) still waiting, \(repeatedDeliveries) repeated deliveries
      \(charges) charges on \(ledgers) ledgers; rates: \(chargesRecomputed) recomputed, \(chargesNotRecomputed) not; \
      \(refunds) refunds

      """
    for (hash, count) in unknownPolicies.sorted(by: { $0.key < $1.key }) {
      text += "policy \(hash): \(count) charges to rates were not recomputed; name the policy with --policy\n"
    }
    if violationCount == 0 { return text + "no violation\n" }
    text += "\(violationCount) violations\n"
    for rule in BookRule.allCases {
      guard let count = violationsByRule[rule] else { continue }
      text += "\(rule.rawValue): \(count)\n"
      for violation in violations where violation.rule == rule { text += "  \(violation.text)\n" }
      if count > examplesMax { text += "  … and \(count - examplesMax) more\n" }
    }
    return text
  }
}
