public import JSON

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

  private var name: Name {
    switch kind {
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

  /// Writes a CloudEvent in structured mode.
  /// - Parameter source: who says so; not kept in a `Signal`.
  public func encode(to writer: inout JSONWriter, source: String) {
    writer.beginObject()
    writer.key("specversion")
    writer.string("1.0" as StaticString)
    writer.member("id", id)
    writer.member("source", source)
    writer.member("type", name.rawValue)
    writer.member("subject", device)
    writer.timestamp("time", time)
    writer.key("data")
    writer.beginObject()
    writer.member("device", device)
    switch kind {
    case .appForegrounded, .appBackgrounded: break
    case .widgetFetched(let instance), .widgetViewed(let instance): writer.member("instance", instance)
    case .activityStarted(let instance), .activityEnded(let instance), .activityDismissed(let instance):
      writer.member("instance", instance)
    case .tokenRejected(let token): writer.member("token", token)
    case .deliveryCompleted(let command, let outcome):
      writer.member("command", command)
      writer.member("outcome", outcome.rawValue)
    }
    writer.endObject()
    writer.endObject()
  }
}
