import Domain

extension PolicyDecoder {
  /// Reads `activity.contentState` of a kind.
  mutating func contentState(_ value: Located) -> [TemplateMember] {
    if case .mapping(let entries) = value.node.content, entries.isEmpty {
      reader.error(value.node.position, value.path, "no members; expected what the activity shows")
    }
    return members(value, of: "contentState", depth: 0) ?? []
  }

  /// Reads `activity.channel` of a kind.
  mutating func startChannel(_ value: Located, _ surface: Surface) -> InterestTemplate? {
    let channel = text(value, "the id of a channel such as \"{data.channel}\"")
    if !surface.traits.isChannel {
      reader.error(
        value.owner, value.path,
        "only activities of surface broadcast listen to a channel; remove it, or make the kind one of surface broadcast"
      )
    }
    return channel
  }

  /// Reads `activity.channelStoresNewest` of a kind.
  mutating func channelStoresNewest(_ value: Located, _ surface: Surface) -> Bool {
    guard let stores = reader.flag(value) else { return false }
    if !surface.traits.isChannel {
      reader.error(
        value.owner, value.path, "only a channel stores messages; remove it, or make the kind one of surface broadcast")
    }
    return stores
  }

  /// Reads the time zone of a kind's channels.
  mutating func channelTimeZone(_ value: Located, _ surface: Surface) -> Identifier? {
    guard let name = reader.name(value, "a time zone such as Europe/Rome") else { return nil }
    if !surface.traits.isChannel {
      reader.error(
        value.owner, value.path,
        "quiet hours of other surfaces are those of the device; remove it, or make the kind one of surface broadcast")
    } else if !TimeZoneNames.exists(name) {
      reader.error(
        value.node.position, value.path,
        "unknown time zone \(Excerpt.quoted(name)); expected an IANA name such as Europe/Rome")
    }
    return Identifier(name)
  }

  /// Reads `attributesType`, the name of a Swift type: letters, digits and _, with dots between the parts of a nested
  /// type's name.
  mutating func attributesType(_ value: Located) -> String? {
    let expected = "the name of a Swift type such as FlightAttributes"
    guard let text = reader.name(value, expected) else { return nil }
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

  /// Reads `activity.alert` of a kind.
  mutating func alert(_ value: Located) -> AlertTemplate? {
    // A bound above 1 means that no update carries the alert.
    let none = AlertText.text(InterestTemplate(parts: []))
    var alert = AlertTemplate(title: none, body: none, aboveRelevance: 2)
    return read(value, PolicyKeys.alert, into: &alert).map { _ in alert }
  }

  /// Reads the title or the body of an alert.
  mutating func alertText(_ value: Located) -> AlertText? {
    guard case .mapping = value.node.content else {
      return text(value, "a text such as \"Flight {data.flight}\", or { locKey: DELAYED }").map(AlertText.text)
    }
    guard let keys = reader.keys(value, allowed: ["locKey", "locArgs"], required: ["locKey"]),
      let key = keys["locKey"].flatMap({ reader.name($0, "a key of the app's localized texts") })
    else { return nil }
    let items = reader.list(keys["locArgs"], of: "texts", count: 0...PolicyBounds.alertArgumentsMax) ?? []
    return .localized(
      key: Identifier(key), arguments: items.compactMap { text($0, "a text such as \"{data.flight}\"") })
  }

  private mutating func text(_ value: Located, _ expected: String) -> InterestTemplate? {
    guard let text = reader.name(value, expected, bytesMax: DomainBounds.fieldBytesMax) else { return nil }
    return template(text, of: value)
  }

  /// Reads `activity.dismissal` of a kind.
  mutating func dismissal(_ value: Located) -> ActivityPolicy.Dismissal? {
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
