import Domain
import Policies

/// An event, and what is the same about it for every device that it concerns. While it is decided, nothing of it changes: it is passed as a
/// borrowed value of its own, because a part of a value that changes would be copied for every call. Without an event `slot` is absent, and nothing else but
/// `content` means anything: the arrays keep their memory for the next event.
struct EventInHand: ~Copyable {
  /// The event; nil if none is decided.
  var content: DomainEvent?
  /// The time at which the event happened.
  var time = Timestamp(microseconds: 0)
  /// The time from which on what the event says is true: that at which it happened, or the log time if that is earlier.
  var saidAt = Timestamp(microseconds: 0)
  /// The hash of the event's subject.
  var subject = SipHash(key: .standard)
  /// The slot of the event in `Pending.events`; absent if none is decided.
  var slot = EventSlot.absent
  /// Whether the event is new, a repeat, or older than what is remembered.
  var standing = SubjectMemory.Standing.fresh
  /// The interest key that is the event's subject; absent if no instance listens to it.
  var subjectInterest = InterestSlot.absent
  /// The evaluation of the event for each kind, by kind slot.
  var evaluations: ContiguousArray<KindEvaluation> = []
  /// The kinds that have a rule for the event.
  var evaluated: ContiguousArray<KindSlot> = []
  /// The displayed states of the event's subject before and after the event, for each kind that displays fields and has a rule
  /// for the event.
  var truths: ContiguousArray<Truth> = []
  /// The values of these states; `Truth` has their places.
  var values: ContiguousArray<DisplayedValue> = []
  /// The fields of the event's subject that templates of Live Activities know after the event; empty if they read none.
  var known = KnownContent()
  /// Whether the event is older than the newest of its type, and says something all the same that nothing newer has said.
  var addsToKnown = false
  /// The event with all that is known of its subject, for these templates; nil if no rule of a Live Activity is for its type.
  var told: DomainEvent?
  /// The formulas for the relevance that compare the event with what a screen shows.
  var comparisons: [(kind: KindSlot, formula: RelevanceFormula)] = []

  /// The displayed states of the event's subject before and after the event, for one kind. The values stand in `EventInHand.values`,
  /// so that an event whose states are small allocates no memory.
  struct Truth {
    /// The key of the state in `SubjectMemory`.
    var key: KeyedHash
    /// The slot of that state in `SubjectMemory`; absent if the event brings the first one.
    var slot: SubjectSlot
    /// The kind.
    var kind: KindSlot
    /// The places of the state before the event in `EventInHand.values`, one for each displayed field.
    var before: Range<Int>
    /// The places of the state after the event.
    var after: Range<Int> { before.upperBound..<before.upperBound + before.count }
    /// The distance of a screen that shows the state before the event from the state after it, 0…1.
    var difference: Float
    /// Whether the event carries a displayed field. If not, it can only be news.
    var isCarried: Bool
    /// The places of the fields of which the event is the newest that says anything, as bits.
    var said: UInt32
    /// Whether a truth before it is of the same state, because their kinds display the same fields.
    var isRepeated = false
  }

  /// Returns the place in `truths` of what a kind displays of the event's subject; −1 if there is none, or no event.
  @inline(__always)
  func truth(_ kind: KindSlot, _ rules: borrowing Rules) -> Int {
    // Not by comparing `content` with nil, which would copy the event.
    if slot.isAbsent { return -1 }
    let truth = evaluations[kind.index].truth
    if truth >= 0 { return truth }
    // A kind without a rule for the event may display the same fields as one with a rule.
    return sharedTruth(kind, rules)
  }

  /// Returns the place in `truths` of the state that a kind shares with one that has a rule for the event; −1 if there is none.
  @inline(__always)
  func sharedTruth(_ kind: KindSlot, _ rules: borrowing Rules) -> Int {
    for place in truths.indices where rules[truths[place].kind].display.truths == rules[kind].display.truths {
      return place
    }
    return -1
  }
}
