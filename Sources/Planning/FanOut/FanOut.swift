import Domain
import Policies

/// The fan-out of the current event: its interest keys, and the progress through the devices that it concerns.
struct FanOut {
  var event: DomainEvent?
  /// The time at which the event happened.
  var time = Timestamp(microseconds: 0)
  /// The hash of the event's subject.
  var subject = SipHash(key: .standard)
  /// The slot of the event in `Pending.events`.
  var slot = EventSlot.absent
  var standing = SubjectMemory.Standing.fresh
  /// The entry of the subject memory for the event's subject and type; absent if the fan-out was resumed.
  var noted = SubjectSlot.absent
  /// The entry of the subject memory that the event needed last; absent if there was none.
  var remembered = SubjectSlot.absent
  /// The lists of the interest entries that listen to the event's keys, one cursor for each list.
  var cursors: [Cursor] = []
  /// The interest keys of the event, the subject first.
  var keys: [Identifier] = []
  /// The evaluation of the event for each kind, by kind slot.
  var evaluations: ContiguousArray<KindEvaluation> = []
  /// The kinds that have a rule for the event.
  var evaluated: ContiguousArray<KindSlot> = []
  /// The displayed states of the event's subject before and after the event, for each kind that displays fields and has a rule
  /// for the event.
  var truths: ContiguousArray<Truth> = []
  /// The formulas for the relevance that compare the event with what a screen shows.
  var comparisons: [(kind: KindSlot, formula: RelevanceFormula)] = []
  /// The values of these states; `Truth` has their places.
  var values: ContiguousArray<DisplayedValue> = []
  /// The interest key that is the event's subject; absent if no instance listens to it.
  var subjectInterest = InterestSlot.absent
  /// The first device that the fan-out has not visited yet. A fan-out that is resumed after a restart continues there.
  var nextDevice = DeviceSlot(0)

  /// The displayed states of the event's subject before and after the event, for one kind. The values stand in `FanOut.values`,
  /// so that an event whose states are small allocates no memory.
  struct Truth {
    /// The key of the state in `SubjectMemory`.
    var key: KeyedHash
    /// The slot of that state in `SubjectMemory`; absent if the event brings the first one.
    var slot: SubjectSlot
    /// The kind.
    var kind: KindSlot
    /// The places of the state before the event in `FanOut.values`, one for each displayed field.
    var before: Range<Int>
    /// The places of the state after the event.
    var after: Range<Int> { before.upperBound..<before.upperBound + before.count }
    /// The distance of a screen that shows the state before the event from the state after it, 0…1.
    var difference: Float
    /// Whether the event carries a displayed field. If not, it can only be news.
    var isCarried: Bool
    /// Whether a truth before it is of the same state, because their kinds display the same fields.
    var isRepeated = false
  }

  struct Cursor {
    var interest: InterestSlot
    /// The key's bit in `KindEvaluation.keys`.
    var bit: UInt64
    var place: Int
    /// The place up to which `prefetch` has asked for what the entries lead to.
    var prefetched = 0
  }
}
