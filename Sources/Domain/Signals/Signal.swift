/// Something that happened on or to a device and that changes what is worth sending: the CloudEvents types
/// `rouse.signal.*` of `rouse.signals`.
public struct Signal: Equatable, Sendable {
  public var device: String
  /// CloudEvents `id`.
  public var id: String
  public var time: Timestamp
  public var kind: Kind

  public init(device: String, id: String, time: Timestamp, kind: Kind) {
    self.device = device
    self.id = id
    self.time = time
    self.kind = kind
  }

  /// What happened; the case names are the CloudEvents types without `rouse.signal.`.
  public enum Kind: Equatable, Sendable {
    /// `app.foregrounded`: reloads are free until `app.backgrounded`.
    case appForegrounded
    /// `app.backgrounded`
    case appBackgrounded
    /// `widget.fetched`: the widget asked for content by itself, the best receipt there is. Nil: every instance.
    case widgetFetched(instance: String?)
    /// `widget.viewed`. Nil: every instance.
    case widgetViewed(instance: String?)
    /// `activity.started`
    case activityStarted(instance: String)
    /// `activity.ended`
    case activityEnded(instance: String)
    /// `activity.dismissed`
    case activityDismissed(instance: String)
    /// `token.rejected`: APNs refused this token for good.
    case tokenRejected(token: String)
    /// `delivery.completed`: what APNs answered for one command.
    case deliveryCompleted(command: String, outcome: DeliveryOutcome)
  }

  /// How the delivery of a command ended.
  public enum DeliveryOutcome: String, Sendable, CaseIterable {
    /// APNs accepted it.
    case accepted
    /// APNs refused it for good: what was charged is refunded.
    case refused
    /// It was not sent before it expired: what was charged is refunded.
    case expired
  }
}
