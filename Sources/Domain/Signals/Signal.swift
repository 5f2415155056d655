/// A report from a device or a push sender that changes which pushes are worth sending. Signals are CloudEvents of the types
/// `rouse.signal.*` on `rouse.signals`.
public struct Signal: Hashable, Sendable {
  /// The id of the device.
  public var device: Identifier
  /// The CloudEvents `id`.
  public var id: Identifier
  /// The CloudEvents `time`.
  public var time: Timestamp
  /// The kind of signal, with its details.
  public var kind: Kind

  /// Creates a signal. Nothing is checked.
  public init(device: Identifier, id: Identifier, time: Timestamp, kind: Kind) {
    self.device = device
    self.id = id
    self.time = time
    self.kind = kind
  }

  /// A kind of signal. Each case names its CloudEvents type without `rouse.signal.`.
  public enum Kind: Hashable, Sendable {
    /// `app.foregrounded`: the app is in the foreground, and reloads are free until `app.backgrounded`.
    case appForegrounded
    /// `app.backgrounded`: the app has left the foreground.
    case appBackgrounded
    /// `widget.fetched`: a widget fetched its content, so it shows the newest state. Without an instance, every widget did. Without a
    /// cause, the planner finds out whether a push explains the fetch.
    case widgetFetched(instance: Identifier?, cause: FetchCause? = nil)
    /// `widget.viewed`: a person looked at a widget. Nil: at every widget.
    case widgetViewed(instance: Identifier?)
    /// `activity.started`: a Live Activity began.
    case activityStarted(ReportedActivity)
    /// `activity.ended`: a Live Activity is over.
    case activityEnded(ReportedActivity)
    /// `activity.dismissed`: a person removed a Live Activity.
    case activityDismissed(ReportedActivity)
    /// `token.rejected`: APNs refused this token for good.
    case tokenRejected(token: String)
    /// `delivery.completed`: the delivery of one command ended.
    case deliveryCompleted(command: Identifier, outcome: DeliveryOutcome, answer: APNsAnswer = APNsAnswer())
  }

  /// The Live Activity that a signal is about.
  public struct ReportedActivity: Hashable, Sendable {
    /// Its id in registrations.
    public var instance: Identifier
    /// Its kind; nil if it is not stated. With the kind and the subject, the signal also counts before the activity is registered.
    public var kind: Identifier?
    /// Its subject; nil if it is not stated.
    public var subject: Identifier?

    /// Creates a name of an activity.
    public init(instance: Identifier, kind: Identifier? = nil, subject: Identifier? = nil) {
      (self.instance, self.kind, self.subject) = (instance, kind, subject)
    }
  }

  /// The reason why a widget fetched its content.
  public enum FetchCause: String, Sendable, CaseIterable {
    /// The widget's own timeline was at its end, or asked to be reloaded at that time.
    case timeline
    /// A push.
    case push
    /// An app intent that the person ran in the widget.
    case intent
    /// The app reloaded the widget while it was in the foreground.
    case foreground
    /// The app reloaded the widget while it had an audio or navigation session.
    case session
    /// The system, after a change of the locale, of the text size and the like.
    case system
  }

  /// The answer of APNs to a push, as far as the sender states it.
  public struct APNsAnswer: Hashable, Sendable {
    /// The HTTP status; nil if it is not stated.
    public var status: Int?
    /// The `reason` in the body of a refusal; nil if it is not stated.
    public var reason: Identifier?

    /// Creates an answer.
    public init(status: Int? = nil, reason: Identifier? = nil) { (self.status, self.reason) = (status, reason) }

    /// Whether the token can never be used again.
    /// Source: Apple's page "Handling notification responses from APNs".
    public var isTokenDead: Bool {
      if status == 410 { return true }
      return switch reason?.text {
      case "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken", "Unregistered": true
      default: false
      }
    }

    /// Whether APNs would refuse the same push again.
    public var isForGood: Bool { !isTokenDead && (status == 400 || status == 413) }
  }

  /// The end of the delivery of a command.
  public enum DeliveryOutcome: String, Sendable, CaseIterable {
    /// APNs accepted the push.
    case accepted
    /// APNs refused the push for good. Its charges are refunded.
    case refused
    /// The push was not sent before it expired. Its charges are refunded.
    case expired
  }
}
