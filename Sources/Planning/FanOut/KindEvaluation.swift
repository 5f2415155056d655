import Domain
import Policies

/// The meaning of an event to a kind. It is the same for all instances of the kind, so it is computed once per event.
struct KindEvaluation {
  /// The event's keys that the kind's rule listens to, as bits; without a rule, the subject.
  var keys: UInt64 = 1
  var hasRule = false
  var maxAge = TimeSpan.unbounded
  var relevance: Float = 0
  var action = Rule.Action.update
  /// The event's change of what the kind displays of its subject; nil where the policy does not say what it displays.
  var displayed: DisplayedChange?
}
