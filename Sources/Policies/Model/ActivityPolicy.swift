public import Domain

/// What a Live Activity is told: templates over the newest event's data, and how it begins and ends.
public struct ActivityPolicy: Equatable, Sendable {
  /// Swift type name of the attributes; needed where a rule starts activities.
  public var attributesType: String?
  /// Static data, sent with `start` only.
  public var attributes: [TemplateMember]
  public var contentState: [TemplateMember]
  /// Needed where a rule starts activities: Apple refuses a start without one.
  public var alert: AlertTemplate?
  /// `stale-date`: this long after each push; nil: none.
  public var staleAfter: TimeSpan?
  /// An activity whose subject is silent for this long is ended.
  public var quietEnd: TimeSpan
  public var dismissal: Dismissal
  /// `relevance-score` is the relevance times this; Apple compares the app's activities with each other only.
  public var relevanceScore: Double
  /// Where dates inside the content state count from.
  public var dates: DateBase
  /// For surface `broadcast`: whether the channel stores the newest message (`message-storage-policy` 1). Without
  /// storage `apns-expiration` must be 0.
  public var channelStoresNewest: Bool

  public init(
    attributesType: String? = nil, attributes: [TemplateMember] = [], contentState: [TemplateMember],
    alert: AlertTemplate? = nil, staleAfter: TimeSpan? = nil, quietEnd: TimeSpan = .hours(2),
    dismissal: Dismissal = .default, relevanceScore: Double = 100, dates: DateBase = .reference2001,
    channelStoresNewest: Bool = false
  ) {
    self.attributesType = attributesType
    self.attributes = attributes
    self.contentState = contentState
    self.alert = alert
    self.staleAfter = staleAfter
    self.quietEnd = quietEnd
    self.dismissal = dismissal
    self.relevanceScore = relevanceScore
    self.dates = dates
    self.channelStoresNewest = channelStoresNewest
  }

  /// When an ended activity leaves the lock screen.
  public enum Dismissal: Equatable, Sendable {
    /// As the system likes, within four hours.
    case `default`
    case immediate
    /// At most four hours: Apple caps it there.
    case after(TimeSpan)
  }

  /// Seconds since when.
  public enum DateBase: String, Sendable, CaseIterable {
    /// 2001-01-01, what Swift's default date decoding expects.
    case reference2001 = "2001"
    /// 1970-01-01
    case unix = "1970"
  }
}

extension Surface {
  /// Live Activities, one by one or all of a channel: what an `ActivityPolicy` is for.
  public var showsActivities: Bool { self == .liveActivity || self == .broadcast }
}

/// A member of a JSON object to be made.
public struct TemplateMember: Equatable, Sendable {
  public var name: String
  public var value: TemplateValue
  public init(name: String, value: TemplateValue) {
    self.name = name
    self.value = value
  }
}

/// How a JSON value is made from an event.
public indirect enum TemplateValue: Equatable, Sendable {
  case constant(FieldValue)
  /// The field as it is, number or text; the fallback where the event has none.
  case field(path: String, fallback: FieldValue)
  /// Text with `{…}` in it, always a JSON string; a missing field is left empty.
  case text(InterestTemplate)
  /// An RFC 3339 text field as seconds since the activity's date base; null where the event has none.
  case date(path: String)
  case object([TemplateMember])
}

/// `alert` of a push: title and body.
public struct AlertTemplate: Equatable, Sendable {
  public var title: InterestTemplate
  public var body: InterestTemplate
  /// Updates at or above this relevance carry the alert; a start always does. Above 1: no update does.
  public var aboveRelevance: Double
  public init(title: InterestTemplate, body: InterestTemplate, aboveRelevance: Double) {
    self.title = title
    self.body = body
    self.aboveRelevance = aboveRelevance
  }
}
