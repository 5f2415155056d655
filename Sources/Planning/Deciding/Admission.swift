import Domain
import Policies

/// The verdict on the event in hand for one widget or control, by the checks that concern the instance alone. Computing it
/// changes nothing; `Planner.apply(_:entry:instance:device:into:)` carries it out.
struct Admission {
  /// The reason why the event is suppressed; nil when it waits on the instance from now on.
  var reason: Reason?
  /// What happens to the causes that wait already.
  var effect = Effect.none
  /// The fingerprint that the entry would show if it were reloaded now; nil where it stays as it is.
  var current: UInt64?
  /// Whether what the event shows waits already: then it adds no value, and nothing new has come in.
  var isRepeat = false
  /// Whether the event counts as an arrival for the instance's price.
  var arrives = false
  /// The worth of all causes with this one, without the chance that somebody looks.
  var value = 0.0

  enum Effect {
    case none
    /// The entry shows what it would show: its causes have nothing to add.
    case supersede
    /// A reload that costs nothing shows all of it.
    case freshen
  }
}
