import Domain

/// The verdict on the current event for one widget or control, by the checks that concern the instance alone. Computing it
/// changes nothing; `Fleet.apply` carries it out.
struct Admission {
  /// The reason of the event's final decision; nil when it waits on the instance from now on.
  var reason: Reason?
  /// The relevance of the event for the instance, 0…1. Where the rule compares it with what the screen shows, it differs from one
  /// instance of the kind to the next.
  var relevance: Float
  /// The effect on the causes that already wait.
  var effect = Effect.none
  /// The fingerprint of the content that the interest entry would show after a reload now; nil when the event does not change it.
  var current: KeyedHash?
  /// The distance, 0…1, between what the screen shows of the event's subject and the truth after the event; nil when that subject
  /// is not tracked field by field.
  var distance: Float?
  /// Whether the event adds no value as news: a waiting cause has the same content, or `distance` already says how wrong the
  /// screen is.
  var isRepeat = false
  /// Whether the event counts as a visible change in the instance's demand, from which the price of its tokens is computed.
  var arrives = false
  /// The distance, 0…1, that all waiting news makes together; the event is included if it is news.
  var value = 0.0

  enum Effect {
    case none
    /// The entry shows the current state already, so its waiting causes end as `SUPERSEDED`.
    case supersede
    /// A free reload shows every waiting cause, so they end as `FRESHENED`.
    case freshen
    /// The instance was pushed at this log time. A push shows the state of its instant, so it shows this event, too.
    case joinPush
  }

  /// Returns the verdict with a reason why the event does not wait.
  func suppressed(_ reason: Reason) -> Admission {
    var admission = self
    admission.reason = reason
    return admission
  }
}
