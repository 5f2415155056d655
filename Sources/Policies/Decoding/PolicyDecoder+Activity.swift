import Domain

extension PolicyDecoder {
  private static let activityKeys = [
    "attributesType", "attributes", "contentState", "alert", "staleAfter", "quietEnd", "dismissal", "relevanceScore",
    "dates", "channelStoresNewest",
  ]

  /// What a Live Activity is told; `startsByRule` makes required what Apple asks of a start.
  mutating func activity(_ value: Located, surface: Surface, startsByRule: Bool) -> ActivityPolicy? {
    let why = "a rule with action start needs it"
    guard
      let keys = reader.keys(
        value, allowed: Self.activityKeys,
        required: ["contentState"] + (startsByRule ? ["attributesType", "alert"] : []),
        reasons: ["attributesType": why, "alert": why])
    else { return nil }
    let contentState = members(keys["contentState"], of: "contentState", depth: 0)
    if let value = keys["contentState"], case .mapping(let entries) = value.node.content, entries.isEmpty {
      reader.error(value.node.position, value.path, "no members; expected what the activity shows")
    }
    var activity = ActivityPolicy(contentState: contentState ?? [])
    activity.attributesType = attributesType(keys["attributesType"])
    activity.attributes = members(keys["attributes"], of: "attributes", depth: 0) ?? []
    activity.alert = keys["alert"].flatMap { alert($0) }
    activity.staleAfter = reader.duration(keys["staleAfter"], in: PolicyBounds.staleAfter)
    if let span = reader.duration(keys["quietEnd"], in: PolicyBounds.quietEnd) { activity.quietEnd = span }
    if let dismissal = keys["dismissal"].flatMap({ self.dismissal($0) }) { activity.dismissal = dismissal }
    if let score = reader.number(keys["relevanceScore"], in: PolicyBounds.relevanceScore) {
      activity.relevanceScore = score
    }
    let bases = ActivityPolicy.DateBase.allCases.map(\.rawValue)
    if let base = reader.choice(keys["dates"], among: bases).flatMap(ActivityPolicy.DateBase.init(rawValue:)) {
      activity.dates = base
    }
    activity.channelStoresNewest = channelStoresNewest(keys["channelStoresNewest"], surface)
    return activity
  }

  private mutating func channelStoresNewest(_ value: Located?, _ surface: Surface) -> Bool {
    guard let value, let stores = reader.flag(value) else { return false }
    if surface != .broadcast {
      reader.error(
        value.owner, value.path, "only a channel stores messages; remove it, or make the kind one of surface broadcast")
    }
    return stores
  }

  /// The name as the app declares it: letters, digits and _, parts of a nested type joined by dots.
  private mutating func attributesType(_ value: Located?) -> String? {
    let expected = "the name of a Swift type such as FlightAttributes"
    guard let value, let text = reader.name(value, expected) else { return nil }
    let isName = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { part in
      let isWord = part.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == UInt8(ascii: "_")
      }
      return isWord && part.first.map { !(48...57).contains($0) } == true
    }
    if isName { return text }
    reader.mismatch(value, expected: expected)
    return nil
  }

  private mutating func alert(_ value: Located) -> AlertTemplate? {
    guard
      let keys = reader.keys(value, allowed: ["title", "body", "aboveRelevance"], required: ["title", "body"])
    else { return nil }
    let title = alertText(keys["title"])
    let body = alertText(keys["body"])
    // Above 1: no update carries it.
    let above = reader.number(keys["aboveRelevance"], in: PolicyBounds.share) ?? 2
    guard let title, let body else { return nil }
    return AlertTemplate(title: title, body: body, aboveRelevance: above)
  }

  private mutating func alertText(_ value: Located?) -> InterestTemplate? {
    let expected = "a text such as \"Flight {data.flight}\""
    guard let value, let text = reader.name(value, expected, bytesMax: DomainBounds.fieldBytesMax) else { return nil }
    return template(text, of: value)
  }

  private mutating func dismissal(_ value: Located) -> ActivityPolicy.Dismissal? {
    guard case .mapping = value.node.content else {
      let expected = "default, immediate or { after: 30m }"
      guard let text = reader.text(value, expected) else { return nil }
      switch text {
      case "default": return .default
      case "immediate": return .immediate
      default:
        let suggestion = StrictReader.suggestion(text, ["default", "immediate"])
        reader.error(
          value.node.position, value.path, "unknown value \(Excerpt.quoted(text))\(suggestion) expected \(expected)")
        return nil
      }
    }
    guard let keys = reader.keys(value, allowed: ["after"], required: ["after"]) else { return nil }
    let cap = "the system removes an activity 4h after its end at the latest"
    return reader.duration(keys["after"], in: PolicyBounds.dismissalAfter, reason: cap)
      .map(ActivityPolicy.Dismissal.after)
  }
}
