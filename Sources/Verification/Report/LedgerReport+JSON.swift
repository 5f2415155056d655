import Domain
public import JSON

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
