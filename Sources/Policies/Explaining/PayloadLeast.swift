import Domain

/// The bytes that the body of a Live Activity push has at least, whatever the event says: what its templates hold as
/// constant text. Fields count as their shortest value.
enum PayloadLeast {
  /// `{"aps":{"timestamp":1784800000,"event":"start","content-state":…,"relevance-score":0}}`; `update` has a byte more.
  private static let frame = 85
  /// `,"attributes-type":"…","attributes":…`
  private static let attributes = 35
  /// `,"alert":{"title":"…","body":"…"}`
  private static let alert = 31

  /// Of an update that carries no alert.
  static func update(_ activity: ActivityPolicy) -> Int { frame + 1 + object(activity.contentState) }

  static func start(_ activity: ActivityPolicy) -> Int {
    var bytes = frame + object(activity.contentState) + attributes + object(activity.attributes)
    bytes += activity.attributesType?.utf8.count ?? 0
    if let alert = activity.alert { bytes += Self.alert + text(alert.title) + text(alert.body) }
    return bytes
  }

  private static func object(_ members: [TemplateMember]) -> Int {
    let inside = members.reduce(0) { $0 + PolicyText.json($1.name).utf8.count + 1 + value($1.value) }
    return 2 + inside + max(0, members.count - 1)
  }

  private static func value(_ value: TemplateValue) -> Int {
    switch value {
    case .constant(let constant): PolicyText.json(constant).utf8.count
    // A digit, or null for a date that is missing.
    case .field, .date: 1
    case .text(let template): 2 + text(template)
    case .object(let members): object(members)
    }
  }

  private static func text(_ template: InterestTemplate) -> Int {
    template.parts.reduce(0) { bytes, part in
      if case .text(let text) = part { bytes + PolicyText.json(text).utf8.count - 2 } else { bytes }
    }
  }
}
