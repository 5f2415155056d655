import Domain
import Policies

/// The evaluation of an event by a kind's rules. It is the same for all instances of the kind, so it is made once for each
/// event.
struct KindEvaluation {
  /// The keys of the event that the kind's rule names: bit n stands for the event's key n, the subject first. If the kind has no rule for
  /// the event, only the bit of the subject, 0, is set.
  var keys: UInt64 = 1
  var hasRule = false
  var maxAge = TimeSpan.unbounded
  /// The relevance of the event, 0…1: the one that the rule states; without one, the difference that the event makes to its subject.
  var relevance: Float = 0
  /// Whether the rule states how relevant the event is.
  var isRelevanceStated = false
  /// Whether the rule compares the event with what a screen shows. Then `relevance` is not that of an instance (`Admission`).
  var comparesWithShown = false
  var action = Rule.Action.update
  /// The place of the subject's displayed state in `EventInHand.truths`; −1 when there is none.
  var truth = -1
}
