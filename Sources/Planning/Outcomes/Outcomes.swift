import Domain

/// Counts by kind of what has ended since they were last taken, for metrics. Decisions do not read them, and `rouse.state` does not hold
/// them: a planner that is dropped takes along what was not committed.
struct Outcomes {
  private var kinds: ContiguousArray<OutcomeCounts> = []
  private var isEmpty = true
  /// The push that reloaded each widget and whose receipt is awaited, by the slots of the widgets. After a restart none is known.
  private var awaited: ContiguousArray<AwaitedPush> = []
  /// The number of registrations that were older than what is known.
  private var registrationsOutdated = 0
  /// The number of instances that were registered of kinds beyond the bound.
  private var instancesOfOtherKinds = 0
  /// The number of failed commands whose charges were not given back.
  private var refundsRefused = 0

  /// Creates counts of nothing.
  init() {}

  /// Adds the tokens that an instance had left when its budget day ended.
  mutating func noteUnspent(_ tokens: Int, _ kind: KindSlot) {
    makeRoom(kind)
    kinds[kind.index].tokensUnspent += tokens
  }

  /// Notes that a push reloads an instance, whose receipt is awaited.
  ///
  /// - Parameters:
  ///   - instance: The instance.
  ///   - age: The age of the oldest event that the push shows; nil if it shows none.
  mutating func notePush(_ instance: InstanceSlot, ofEventAged age: TimeSpan?) {
    while awaited.count <= instance.index { awaited.append(AwaitedPush()) }
    awaited[instance.index] = AwaitedPush(eventAged: age)
  }

  /// Returns the push to an instance whose receipt is awaited, and awaits none from here on.
  mutating func takePush(_ instance: InstanceSlot) -> AwaitedPush? {
    guard instance.index < awaited.count, awaited[instance.index].isAny else { return nil }
    defer { awaited[instance.index] = AwaitedPush() }
    return awaited[instance.index]
  }

  /// Adds a push that a receipt has answered.
  ///
  /// - Parameters:
  ///   - push: The push.
  ///   - seconds: The time from the push to the fetch.
  ///   - kind: The kind of the instance.
  mutating func noteFetch(of push: AwaitedPush, after seconds: Double, _ kind: KindSlot) {
    makeRoom(kind)
    kinds[kind.index].fetches.note(seconds)
    if let age = push.eventAge { kinds[kind.index].shownEvents.note(age + seconds) }
  }

  /// Adds a registration that is older than what is known.
  mutating func noteOutdatedRegistration() { registrationsOutdated += 1 }

  /// Adds a failed command whose charges are not given back, because there were too many before it.
  mutating func noteRefusedRefund() { refundsRefused += 1 }

  /// Returns the number of failed commands whose charges were not given back, and begins at 0.
  mutating func takeRefusedRefunds() -> Int {
    defer { refundsRefused = 0 }
    return refundsRefused
  }

  /// Returns the number of registrations that were older than what is known, and begins at 0.
  mutating func takeOutdatedRegistrations() -> Int {
    defer { registrationsOutdated = 0 }
    return registrationsOutdated
  }

  /// Adds an instance of a kind that no policy names and that is beyond the bound on kinds.
  mutating func noteInstanceOfOtherKind() { instancesOfOtherKinds += 1 }

  /// Returns the number of instances of kinds beyond the bound, and begins at 0.
  mutating func takeInstancesOfOtherKinds() -> Int {
    defer { instancesOfOtherKinds = 0 }
    return instancesOfOtherKinds
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

/// A push to a widget whose receipt is awaited, in two bytes, because there is one for each widget.
struct AwaitedPush {
  /// The upper half of the age of the oldest event as a `Float` in seconds, which is within 0.8 %; infinity if the push shows none. Zero
  /// stands for no push.
  private var bits: UInt16 = 0

  /// Makes the absence of a push.
  init() {}

  /// Makes a push.
  ///
  /// - Parameter age: The age of the oldest event that the push shows; nil if it shows none. An age below a microsecond counts as one.
  init(eventAged age: TimeSpan?) {
    let seconds = age.map { Float(max(1, $0.microseconds)) / 1_000_000 } ?? .infinity
    bits = UInt16(truncatingIfNeeded: seconds.bitPattern >> 16)
  }

  /// Whether there is a push.
  var isAny: Bool { bits != 0 }

  /// The age of the oldest event that the push shows, in seconds; nil if it shows none.
  var eventAge: Double? {
    let seconds = Float(bitPattern: UInt32(bits) << 16)
    return seconds.isFinite ? Double(seconds) : nil
  }
}
