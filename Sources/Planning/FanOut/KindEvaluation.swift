import Domain
import Policies

/// The evaluation of an event by a kind's rules. It is the same for all instances of the kind, so it is made once for each
/// event.
struct KindEvaluation {
  /// The event's keys that the kind's rule names, as bits; only the subject when the kind has no rule for the event.
  var keys: UInt64 = 1
  var hasRule = false
  var maxAge = TimeSpan.unbounded
  var relevance: Float = 0
  var action = Rule.Action.update
  /// The event's change to what the kind displays of its subject; nil when the policy does not list the displayed fields.
  var displayed: DisplayedChange?
}
