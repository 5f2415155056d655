public import Domain

/// The content of the Live Activities of a kind, as templates over the newest event's data, and how activities begin and end.
public struct ActivityPolicy: Equatable, Sendable {
  /// The name of the attributes' Swift type. Required if a rule starts activities.
  public var attributesType: String?
  /// The static data, which only a start carries.
  public var attributes: [TemplateMember]
  /// The content state.
  public var contentState: [TemplateMember]
  /// The alert. Required if a rule starts activities, because Apple refuses a start without one.
  public var alert: AlertTemplate?
  /// The time after each push at which the activity turns stale (`stale-date`); nil: never.
  public var staleAfter: TimeSpan?
  /// The time without an event about its subject after which an activity is ended.
  public var quietEnd: TimeSpan
  /// The time after a dismissal from which the subject may be started again; nil: not within its run.
  public var restartAfterDismissal: TimeSpan?
  /// Whether an activity that a push has started, and whose token has not come in time, is started again once.
  public var restartWithoutToken: Bool
  /// The time at which an ended activity leaves the lock screen.
  public var dismissal: Dismissal
  /// The factor by which an event's relevance is multiplied to give `relevance-score`. Apple compares only the
  /// activities of one app with each other.
  public var relevanceScore: Double
  /// The instant from which dates in the content state count seconds.
  public var dates: DateBase
  /// The id of the broadcast channel to which a started activity listens; nil for one that gets a token of its own. Required if a rule
  /// of a kind of surface `broadcast` starts activities.
  public var channel: InterestTemplate?
  /// Whether a broadcast channel stores the newest message (`message-storage-policy` 1). Without storage `apns-expiration`
  /// must be 0.
  public var channelStoresNewest: Bool
  /// The IANA name of the time zone whose quiet hours hold for the kind's broadcast channels; nil: none hold.
  public var timeZone: Identifier?

  /// Creates the content of Live Activities. Nothing is checked.
  public init(
    attributesType: String? = nil, attributes: [TemplateMember] = [], contentState: [TemplateMember],
    alert: AlertTemplate? = nil, staleAfter: TimeSpan? = nil, quietEnd: TimeSpan = .hours(2),
    restartAfterDismissal: TimeSpan? = nil, restartWithoutToken: Bool = false, dismissal: Dismissal = .default,
    relevanceScore: Double = 100, dates: DateBase = .reference2001, channel: InterestTemplate? = nil,
    channelStoresNewest: Bool = false, timeZone: Identifier? = nil
  ) {
    self.attributesType = attributesType
    self.attributes = attributes
    self.contentState = contentState
    self.alert = alert
    self.staleAfter = staleAfter
    self.quietEnd = quietEnd
    self.restartAfterDismissal = restartAfterDismissal
    self.restartWithoutToken = restartWithoutToken
    self.dismissal = dismissal
    self.relevanceScore = relevanceScore
    self.dates = dates
    self.channel = channel
    self.channelStoresNewest = channelStoresNewest
    self.timeZone = timeZone
  }

  /// The time at which an ended activity leaves the lock screen.
  public enum Dismissal: Equatable, Sendable {
    /// The system chooses, within four hours.
    case `default`
    /// At once.
    case immediate
    /// This long after the end, at most four hours, where Apple caps it.
    case after(TimeSpan)
  }

  /// The instant from which dates count seconds.
  public enum DateBase: String, Sendable, CaseIterable {
    /// 2001-01-01, which Swift's default date decoding expects.
    case reference2001 = "2001"
    /// 1970-01-01.
    case unix = "1970"
  }
}

/// A member of a JSON object that is made from what is known of a subject.
public struct TemplateMember: Equatable, Sendable {
  /// The name of the member.
  public var name: Identifier
  /// The template of its value.
  public var value: TemplateValue
  /// Whether nothing but an end is pushed as long as the value is null.
  public var isRequired: Bool

  /// Creates a member.
  public init(name: Identifier, value: TemplateValue, isRequired: Bool = false) {
    self.name = name
    self.value = value
    self.isRequired = isRequired
  }
}

/// The template of a JSON value that is made from what is known of a subject: for each field the value in the newest event that said it.
public indirect enum TemplateValue: Equatable, Sendable {
  /// Always the same value.
  case constant(FieldValue)
  /// The value of a field, number or text; the fallback if no event has said it.
  case field(path: Identifier, fallback: FieldValue)
  /// A text with placeholders, always a JSON string. A field that no event has said is left empty.
  case text(InterestTemplate)
  /// A field with an instant, as seconds since the activity's date base; null if no event has said it. Without a unit it is an RFC 3339
  /// text, with one a number of that unit since 1970.
  case date(path: Identifier, unit: DateUnit? = nil)
  /// An object.
  case object([TemplateMember])
}

/// The unit of a number that is an instant: the time since 1970-01-01T00:00:00Z.
public enum DateUnit: String, CaseIterable, Sendable {
  case seconds, milliseconds
}

/// A text of an alert. One with a field that no event has said makes the alert none.
public enum AlertText: Equatable, Sendable {
  /// A text with placeholders.
  case text(InterestTemplate)
  /// A key of the app's localized texts, with the texts that take the places of its arguments: the phone chooses the language
  /// (`loc-key`, `loc-args`).
  case localized(key: Identifier, arguments: [InterestTemplate])
}

/// The `alert` of a push.
public struct AlertTemplate: Equatable, Sendable {
  /// The title.
  public var title: AlertText
  /// The text below the title.
  public var body: AlertText
  /// The name of the sound file in the app, or `default`; nil for no sound.
  public var sound: Identifier?
  /// The relevance at or above which an update carries the alert; a start always does. Above 1 no update does.
  public var aboveRelevance: Double
  /// The time within which the alert of an update follows it, when there was no token for priority 10; nil: it is left out.
  public var wait: TimeSpan?

  /// Creates an alert. Nothing is checked.
  public init(
    title: AlertText, body: AlertText, sound: Identifier? = nil, aboveRelevance: Double, wait: TimeSpan? = nil
  ) {
    self.title = title
    self.body = body
    self.sound = sound
    self.aboveRelevance = aboveRelevance
    self.wait = wait
  }
}
