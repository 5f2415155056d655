/// Counts by kind of what has ended since they were last taken, for metrics. Decisions do not read them, and `rouse.state` does not hold
/// them: a planner that is dropped takes along what was not committed.
struct Outcomes {
  private var kinds: ContiguousArray<OutcomeCounts> = []
  private var isEmpty = true
  /// The widgets that a push reloaded and that have sent no receipt since, as bits by their slots. After a restart none is known.
  private var awaited: ContiguousArray<UInt64> = []

  /// Creates counts of nothing.
  init() {}

  /// Adds the tokens that an instance had left when its budget day ended.
  mutating func noteUnspent(_ tokens: Int, _ kind: KindSlot) {
    makeRoom(kind)
    kinds[kind.index].tokensUnspent += tokens
  }

  /// Notes that a push reloads an instance, whose receipt is awaited.
  mutating func notePush(_ instance: InstanceSlot) {
    let (word, bit) = (instance.index >> 6, UInt64(1) << UInt64(instance.index & 63))
    while awaited.count <= word { awaited.append(0) }
    awaited[word] |= bit
  }

  /// Returns whether the receipt of an instance is awaited, and awaits none from here on.
  mutating func takePush(_ instance: InstanceSlot) -> Bool {
    let (word, bit) = (instance.index >> 6, UInt64(1) << UInt64(instance.index & 63))
    guard word < awaited.count, awaited[word] & bit != 0 else { return false }
    awaited[word] &= ~bit
    return true
  }

  /// Adds a push that a receipt has answered.
  mutating func noteFetch(after seconds: Double, _ kind: KindSlot) {
    makeRoom(kind)
    kinds[kind.index].noteFetch(after: seconds)
  }

  private mutating func makeRoom(_ kind: KindSlot) {
    isEmpty = false
    while kinds.count <= kind.index { kinds.append(OutcomeCounts()) }
  }

  /// Takes the counts of each kind that has any, and begins at 0.
  /// - Parameter body: Receives the slot of a kind and its counts.
  mutating func take(_ body: (KindSlot, OutcomeCounts) -> Void) {
    if isEmpty { return }
    for kind in kinds.indices where kinds[kind] != OutcomeCounts() {
      body(KindSlot(UInt32(kind)), kinds[kind])
      kinds[kind] = OutcomeCounts()
    }
    isEmpty = true
  }
}
