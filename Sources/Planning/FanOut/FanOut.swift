import Domain
import Policies

/// The fan-out of the event in hand, and how far it is.
struct FanOut {
  var event: DomainEvent?
  /// The time at which the event happened.
  var time = Timestamp(microseconds: 0)
  /// The event in the event table.
  var slot = EventSlot.absent
  var standing = SubjectMemory.Standing.fresh
  /// The interest lists that the event's keys lead to, with the next place in each.
  var cursors: [Cursor] = []
  /// The keys of the event, the subject first.
  var keys: [String] = []
  /// The meaning of the event to each kind of the planner.
  var evaluations: ContiguousArray<KindEvaluation> = []
  /// The kinds that have a rule for the event.
  var evaluated: ContiguousArray<KindSlot> = []
  /// The state of what kinds display of the event's subject, after the event, for `SubjectMemory`.
  var truths: [(key: UInt64, truth: DisplayedTruth)] = []
  /// The first device that is not done: a restarted fan-out goes on there.
  var nextDevice = DeviceSlot(0)

  struct Cursor {
    var interest: InterestSlot
    /// The key's bit in `KindEvaluation.keys`.
    var bit: UInt64
    var place: Int
  }
}

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
