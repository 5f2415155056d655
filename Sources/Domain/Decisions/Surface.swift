/// The place on a device where something is shown. It determines how Apple's push service is asked to update it.
public enum Surface: String, Sendable, CaseIterable {
  case widget, control, liveActivity, background, broadcast
}

extension Surface {
  /// The traits of a surface. This is the one place that lists them: the policy decoder, the schemas, reports and stored
  /// numbers follow from it.
  public struct Traits: Sendable {
    /// The number of the surface in files. Never reused for another surface.
    public let number: UInt8
    /// The text of the policy schema about the surface, which says by which push it is updated.
    public let meaning: String
    /// Whether the surface shows Live Activities. Kinds of such a surface have an `activity` in the policy and no `budget`.
    public let showsActivities: Bool
    /// Whether one push goes to a channel, and so reaches every device that subscribed to it.
    public let isChannel: Bool
    /// Whether instances reload by themselves, by the timeline of the widget.
    public let reloadsByItself: Bool

    fileprivate init(
      _ number: UInt8, _ meaning: String, showsActivities: Bool = false, isChannel: Bool = false,
      reloadsByItself: Bool = false
    ) {
      self.number = number
      self.meaning = meaning
      self.showsActivities = showsActivities
      self.isChannel = isChannel
      self.reloadsByItself = reloadsByItself
    }
  }

  /// The traits of this surface.
  public var traits: Traits {
    switch self {
    case .widget: Traits(0, "WidgetKit push", reloadsByItself: true)
    case .control: Traits(1, "push to one control")
    case .liveActivity: Traits(2, "push to one Live Activity", showsActivities: true)
    case .background: Traits(3, "always by background push", reloadsByItself: true)
    case .broadcast:
      Traits(
        4, "one push to a channel, for all Live Activities that listen to it", showsActivities: true, isChannel: true)
    }
  }

  /// Whether the surface shows Live Activities, one by one or all of a channel.
  public var showsActivities: Bool { traits.showsActivities }

  /// Returns the names of the surfaces for which a trait holds, such as `liveActivity` and `broadcast`, for messages.
  public static func names(where trait: (Traits) -> Bool) -> [String] {
    allCases.filter { trait($0.traits) }.map(\.rawValue)
  }
}

extension Surface: NumberedCode {
  /// The cases by their numbers; nil for a number of no case.
  public static let byNumber = casesByNumber()

  /// The number that stands for this surface in files. Never reused for another surface.
  public var number: UInt8 { traits.number }
}
