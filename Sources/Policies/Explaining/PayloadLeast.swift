import Domain

/// Computes the smallest bodies that pushes to Live Activities of a kind can have: the constant text of the templates,
/// with the shortest possible value for each field.
enum PayloadLeast {
  /// The number of bytes of `{"aps":{"timestamp":1784800000,"event":"start","content-state":…,"relevance-score":0}}`.
  /// An `update` has one byte more.
  private static let frame = 85
  /// The number of bytes of `,"attributes-type":"…","attributes":…`
  private static let attributes = 35
  /// The number of bytes of `,"alert":{"title":"…","body":"…"}`
  private static let alert = 31

  /// Returns the smallest body, in bytes, of an update without an alert.
  static func update(_ activity: ActivityPolicy) -> Int { frame + 1 + object(activity.contentState) }

  /// Returns the smallest body, in bytes, of a start.
  static func start(_ activity: ActivityPolicy) -> Int {
    var bytes = frame + object(activity.contentState) + attributes + object(activity.attributes)
    bytes += activity.attributesType?.utf8.count ?? 0
    if let alert = activity.alert { bytes += Self.alert + least(alert.title) + least(alert.body) }
    return bytes
  }

  private static func object(_ members: [TemplateMember]) -> Int {
    let inside = members.reduce(0) { $0 + PolicyText.json($1.name).utf8.count + 1 + value($1.value) }
    return 2 + inside + max(0, members.count - 1)
  }

  private static func value(_ value: TemplateValue) -> Int {
    switch value {
    case .constant(let constant): PolicyText.json(constant).utf8.count
    // The shortest value is a digit. (A missing date is null, which is longer.)
    case .field, .date: 1
    case .text(let template): 2 + text(template)
    case .object(let members): object(members)
    }
  }

  /// Returns the smallest size of a text of an alert, without the quotation marks that `alert` counts.
  private static func least(_ alert: AlertText) -> Int {
    switch alert {
    case .text(let template): text(template)
    // `{"loc-key":"…","loc-args":["…","…"]}`
    case .localized(let key, let arguments):
      10 + PolicyText.json(key).utf8.count
        + (arguments.isEmpty ? 0 : 14 + arguments.reduce(0) { $0 + 2 + text($1) } + arguments.count - 1)
    }
  }

  private static func text(_ template: InterestTemplate) -> Int {
    template.parts.reduce(0) { bytes, part in
      if case .text(let text) = part { bytes + PolicyText.json(text).utf8.count - 2 } else { bytes }
    }
  }
}
