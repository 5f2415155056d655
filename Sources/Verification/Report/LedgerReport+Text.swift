public import Domain

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
      if count > Self.examplesMax { text += "  … and \(count - Self.examplesMax) more\n" }
    }
    return text
  }
}
