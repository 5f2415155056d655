/// Something that happened on the device and that makes Rouse's decisions better.
public enum DeviceSignal: Sendable, Equatable {
  /// The app came to the foreground. Reloads are free until it leaves.
  case appForegrounded
  /// The app left the foreground.
  case appBackgrounded
  /// A widget fetched its content by itself; nil for every widget.
  case widgetFetched(instance: String?)
  /// A person looked at a widget; nil for every widget.
  case widgetViewed(instance: String?)
  /// A Live Activity began. With its kind and its subject, the signal also counts before the activity is registered; so it does below.
  case activityStarted(instance: String, kind: String? = nil, subject: String? = nil)
  /// A Live Activity is over.
  case activityEnded(instance: String, kind: String? = nil, subject: String? = nil)
  /// A person removed a Live Activity.
  case activityDismissed(instance: String, kind: String? = nil, subject: String? = nil)
  /// The system has replaced or ended a push token; the old one is not to be used any longer.
  case tokenRejected(PushToken)

  /// The type of the CloudEvent.
  var type: String {
    let name =
      switch self {
      case .appForegrounded: "app.foregrounded"
      case .appBackgrounded: "app.backgrounded"
      case .widgetFetched: "widget.fetched"
      case .widgetViewed: "widget.viewed"
      case .activityStarted: "activity.started"
      case .activityEnded: "activity.ended"
      case .activityDismissed: "activity.dismissed"
      case .tokenRejected: "token.rejected"
      }
    return "rouse.signal." + name
  }

  /// The widget or Live Activity.
  var instance: String? {
    switch self {
    case .appForegrounded, .appBackgrounded, .tokenRejected: nil
    case .widgetFetched(let instance), .widgetViewed(let instance): instance
    case .activityStarted(let instance, _, _), .activityEnded(let instance, _, _),
      .activityDismissed(let instance, _, _):
      instance
    }
  }

  /// The kind and the subject of the Live Activity, as far as they are stated.
  var activity: (kind: String?, subject: String?) {
    switch self {
    case .appForegrounded, .appBackgrounded, .tokenRejected, .widgetFetched, .widgetViewed: (nil, nil)
    case .activityStarted(_, let kind, let subject), .activityEnded(_, let kind, let subject),
      .activityDismissed(_, let kind, let subject):
      (kind, subject)
    }
  }

  /// The token.
  var token: PushToken? { if case .tokenRejected(let token) = self { token } else { nil } }
}
