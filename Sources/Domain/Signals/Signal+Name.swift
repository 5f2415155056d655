extension Signal {
  /// The CloudEvents types of signals.
  enum Name: String, CaseIterable {
    case appForegrounded = "rouse.signal.app.foregrounded"
    case appBackgrounded = "rouse.signal.app.backgrounded"
    case widgetFetched = "rouse.signal.widget.fetched"
    case widgetViewed = "rouse.signal.widget.viewed"
    case activityStarted = "rouse.signal.activity.started"
    case activityEnded = "rouse.signal.activity.ended"
    case activityDismissed = "rouse.signal.activity.dismissed"
    case tokenRejected = "rouse.signal.token.rejected"
    case deliveryCompleted = "rouse.signal.delivery.completed"
  }
}

extension Signal.Name: NumberedCode {
  /// The cases by their numbers; nil for a number of no case.
  public static let byNumber = casesByNumber()

  /// The number of the type in log records. Never reused for another type.
  var number: UInt8 {
    switch self {
    case .appForegrounded: 1
    case .appBackgrounded: 2
    case .widgetFetched: 3
    case .widgetViewed: 4
    case .activityStarted: 5
    case .activityEnded: 6
    case .activityDismissed: 7
    case .tokenRejected: 8
    case .deliveryCompleted: 9
    }
  }
}

extension Signal.Kind {
  /// The CloudEvents type.
  var name: Signal.Name {
    switch self {
    case .appForegrounded: .appForegrounded
    case .appBackgrounded: .appBackgrounded
    case .widgetFetched: .widgetFetched
    case .widgetViewed: .widgetViewed
    case .activityStarted: .activityStarted
    case .activityEnded: .activityEnded
    case .activityDismissed: .activityDismissed
    case .tokenRejected: .tokenRejected
    case .deliveryCompleted: .deliveryCompleted
    }
  }

  /// Returns the kind of a CloudEvents type, with empty details that a decoder fills in.
  static func blank(of name: Signal.Name) -> Signal.Kind {
    switch name {
    case .appForegrounded: .appForegrounded
    case .appBackgrounded: .appBackgrounded
    case .widgetFetched: .widgetFetched(instance: nil)
    case .widgetViewed: .widgetViewed(instance: nil)
    case .activityStarted: .activityStarted(Signal.ReportedActivity(instance: ""))
    case .activityEnded: .activityEnded(Signal.ReportedActivity(instance: ""))
    case .activityDismissed: .activityDismissed(Signal.ReportedActivity(instance: ""))
    case .tokenRejected: .tokenRejected(token: "")
    case .deliveryCompleted: .deliveryCompleted(command: "", outcome: .accepted)
    }
  }
}
