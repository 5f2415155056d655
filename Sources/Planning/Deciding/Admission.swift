import Domain

/// The verdict on the current event for one widget or control, by the checks that concern the instance alone. Computing it
/// changes nothing; `Planner.apply(_:entry:instance:device:into:)` carries it out.
struct Admission {
  /// The reason of the event's final decision; nil when it waits on the instance from now on.
  var reason: Reason?
  /// The effect on the causes that already wait.
  var effect = Effect.none
  /// The fingerprint that the entry would show after a reload now; nil when the event does not change it.
  var current: UInt64?
  /// The distance between the entry's screen and the truth after the event, for a subject that is shown field by field; nil for
  /// another one.
  var distance: Float?
  /// Whether a waiting cause already shows the same content. Then the event adds no value and does not count as an arrival.
  var isRepeat = false
  /// Whether the event counts as an arrival for the instance's price.
  var arrives = false
  /// The distance that the news which waits makes, this event included, 0…1.
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
}
