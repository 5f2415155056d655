import Domain

/// The life of the Live Activity of one subject on one device.
///
///     notStarted ─ start pushed ─► startSent ─ APNs took it ─► awaitingToken ─ registered ─► running ◄─ other one ─ tokenDead
///         ▲                           │   └──────────────── registered ─────────────────────►  │  └─ token refused ──►┘
///         └──── refused, expired ─────┘                                               end pushed ▼
///                                                                          running ◄─ refused ─ ending ─ taken ─► ended
///
/// Wherever an activity may be on the screen (`isOnScreen`), the device may report it as ended or dismissed, a newer registration may leave
/// it out, and after `ActivityTimes.life` the system has ended it. `ended` and `dismissed` are left by the next start alone. A start whose
/// token does not come is followed by another one if the policy says so.
///
/// A push-to-start token keeps the life of each subject that it has started (`SubjectActivity`). An activity that a device has registered
/// keeps its own (`AddressedState.life`), of which only the states from `running` on are possible.
enum ActivityLife: Equatable {
  /// No activity is known, or APNs did not take its start.
  case notStarted
  /// A start was pushed, and its answer is awaited.
  case startSent
  /// The activity runs, and the device has not registered it with a token yet.
  case awaitingToken
  /// The activity runs on the device. One on a broadcast channel is ended by the push to the channel.
  case running(onChannel: Bool)
  /// APNs has refused the activity's token for good.
  case tokenDead
  /// An end was pushed, and its answer is awaited.
  case ending
  /// The activity is over, since the instant that was reported or found out; the distant past if a registration has left it out, because
  /// another one may list it again.
  case ended(at: Timestamp)
  /// The person has removed the activity.
  case dismissed(at: Timestamp)

  /// The instant since which the activity is over; nil if it may be on the screen, or was never known.
  var overSince: Timestamp? {
    switch self {
    case .ended(let instant), .dismissed(let instant): instant
    default: nil
    }
  }

  /// Whether the activity may be on the screen.
  var isOnScreen: Bool {
    switch self {
    case .notStarted, .ended, .dismissed: false
    case .startSent, .awaitingToken, .running, .tokenDead, .ending: true
    }
  }

  /// Returns whether an activity can come from this state into another one.
  func leads(to next: ActivityLife) -> Bool {
    switch (self, next) {
    case (.notStarted, .startSent), (.ended, .startSent), (.dismissed, .startSent): true
    // The end to the channel is not told to each device.
    case (.running(onChannel: true), .startSent): true
    // The policy gives one up whose token does not come.
    case (.startSent, .startSent), (.awaitingToken, .startSent): true
    case (.startSent, .notStarted), (.startSent, .awaitingToken): true
    // The app may start one by itself.
    case (_, .awaitingToken): !isOnScreen
    case (_, .running): true
    case (.running, .tokenDead), (.running, .ending), (.ending, .tokenDead): true
    // A signal about an activity whose start was not read yet.
    case (_, .ended), (_, .dismissed): true
    case (_, .notStarted), (_, .startSent), (_, .tokenDead), (_, .ending): false
    }
  }
}

/// The activity of one subject, as a push-to-start token knows it.
struct SubjectActivity: Equatable {
  /// The subject.
  var subject: Identifier
  /// The log time of the start, or the instant at which the app started the activity by the clock of the device.
  private(set) var at: Timestamp
  /// The time of the event that wanted the start, or the instant at which the app started the activity: an end of its subject by a later
  /// event is its own end. Unlike log time it can be compared with the times of events, which may be read late. The distant past if neither
  /// is known.
  private(set) var begun = Timestamp.distantPast
  /// The state that its life was in last; see `life(at:)`.
  private(set) var lastLife = ActivityLife.notStarted
  /// The log time of the last change of `lastLife`.
  private(set) var changedAt: Timestamp
  /// The time of the newest event that wanted a start and needs none any more: it has started the activity, or was refused.
  private(set) var served = Timestamp.distantPast
  /// Whether the device has registered an activity since. If not, it can be neither updated nor ended (a zombie).
  var isRegistered = false
  /// The content of the start.
  var told = AddressedState.Told()
  /// The start, until the sender says what APNs answered; nil if no push has made the activity.
  var push: AddressedState.SentPush?
  /// The number of times in a row that APNs has refused the start.
  private(set) var refusals: UInt8 = 0
  /// Whether it is never given up for want of a token: the activity before it was, or the device has said that it runs.
  var isKept = false

  /// Makes the activity of a subject of which nothing is known.
  /// - Parameters:
  ///   - subject: The subject.
  ///   - at: The log time of the start.
  init(subject: Identifier, at: Timestamp) { (self.subject, self.at, changedAt) = (subject, at, at) }

  /// Returns the state of the activity. The system has ended one whose life is over, and a dismissal is remembered for a while only.
  func life(at now: Timestamp) -> ActivityLife {
    let end = at + ActivityTimes.startedLife
    if lastLife.isOnScreen { return now < end ? lastLife : .ended(at: end) }
    if case .dismissed(let instant) = lastLife, now >= forgottenAt { return .ended(at: instant) }
    return lastLife
  }

  /// Returns whether a push has started the activity, and the device has not registered it yet.
  func awaitsToken(at now: Timestamp) -> Bool {
    switch life(at: now) {
    case .startSent, .awaitingToken: true
    default: false
    }
  }

  /// Whether a push has started it, and not the app.
  var isPushed: Bool { told.at.microseconds != 0 }

  // MARK: Changes

  /// Notes a push that starts the activity.
  /// - Parameters:
  ///   - served: The time of the newest event that wanted it.
  ///   - told: The content of the push.
  ///   - push: The push.
  ///   - now: Log time.
  mutating func start(
    served: Timestamp, telling told: AddressedState.Told, by push: AddressedState.SentPush, at now: Timestamp
  ) {
    isKept = awaitsToken(at: now)
    move(to: .startSent, at: now)
    (at, begun, self.told, self.push, isRegistered) = (now, min(now, served), told, push, false)
    serve(upTo: served)
  }

  /// Notes that APNs took the start.
  /// - Parameters:
  ///   - onChannel: Whether the activity listens to a channel, and so needs no token.
  ///   - now: Log time.
  mutating func noteAccepted(onChannel: Bool, at now: Timestamp) {
    (push, refusals) = (nil, 0)
    if life(at: now) == .startSent { move(to: onChannel ? .running(onChannel: true) : .awaitingToken, at: now) }
  }

  /// Notes that APNs did not take the start.
  /// - Parameters:
  ///   - isForGood: Whether the same start is not to be tried again.
  ///   - now: Log time.
  mutating func noteRefused(isForGood: Bool, at now: Timestamp) {
    push = nil
    refusals = isForGood ? 0 : min(refusals, .max - 1) + 1
    guard life(at: now) == .startSent else { return }
    move(to: .notStarted, at: now)
    if !isForGood { served = .distantPast }
  }

  /// Notes that an activity runs on the device.
  /// - Parameters:
  ///   - life: `awaitingToken` or `running`.
  ///   - startedAt: The instant at which it was started, by the clock of the device.
  ///   - now: Log time.
  mutating func run(_ life: ActivityLife, startedAt: Timestamp, at now: Timestamp) {
    assert(life.isOnScreen, "an activity that runs is on the screen")
    let isAnother = !self.life(at: now).isOnScreen
    isKept = true
    move(to: life, at: now)
    if isAnother {
      at = min(now, startedAt)
      (begun, told, push) = (at, AddressedState.Told(), nil)
    }
    refusals = 0
  }

  /// Notes that the activity is not on the screen any more, whether or not it was known. An end that follows a dismissal changes nothing.
  /// - Parameters:
  ///   - life: `ended` or `dismissed`.
  ///   - startedAt: The instant at which it was started, by the clock of the device; nil if it is not known.
  ///   - served: Events that wanted a start until then want none any more.
  ///   - now: Log time.
  mutating func close(_ life: ActivityLife, startedAt: Timestamp?, served: Timestamp, at now: Timestamp) {
    assert(life.overSince != nil, "what is closed is over")
    if case .dismissed = self.life(at: now), case .ended = life { return }
    if let startedAt { begun = max(begun, min(now, startedAt)) }
    move(to: life, at: now)
    serve(upTo: served)
  }

  /// Notes that events up to a time want no start any more.
  mutating func serve(upTo time: Timestamp) { served = max(served, time) }

  private mutating func move(to next: ActivityLife, at now: Timestamp) {
    assert(life(at: now).leads(to: next), "\(life(at: now)) does not lead to \(next)")
    (lastLife, changedAt) = (next, now)
  }

  // MARK: Questions

  /// The log time at which it is forgotten: no start depends on it any more.
  var forgottenAt: Timestamp {
    switch lastLife {
    case .notStarted, .ended: changedAt + ActivityTimes.lateStart
    case .dismissed: changedAt + ActivityTimes.dismissalMemory
    default: at + ActivityTimes.startMemory
    }
  }

  /// Returns whether an activity of the subject can be the one that this start has made.
  /// - Parameters:
  ///   - instant: The instant at which the activity was started, by the clock of the device.
  ///   - delivery: The time for which the start was worth sending.
  func begins(activityOf instant: Timestamp, within delivery: TimeSpan) -> Bool {
    at - ActivityTimes.clockError <= instant && instant <= at + delivery + ActivityTimes.clockError
  }

  /// Returns whether the token should have come by now.
  func isLate(at now: Timestamp) -> Bool { awaitsToken(at: now) && now - at >= ActivityTimes.registration }

  /// Restores what a record holds.
  mutating func restore(
    _ life: ActivityLife, at: Timestamp, begun: Timestamp, changedAt: Timestamp, served: Timestamp, refusals: UInt8
  ) {
    (lastLife, self.at, self.begun) = (life, at, begun)
    (self.changedAt, self.served, self.refusals) = (changedAt, served, refusals)
  }
}

/// Times that the platform sets for Live Activities, and times for which Rouse remembers them.
enum ActivityTimes {
  /// The time after which the system ends an activity by itself. Source: Apple, "Displaying live data with Live Activities".
  static let life = TimeSpan.hours(8)
  /// The time after its start by which an activity is over. APNs may deliver the start as late as a push is worth sending.
  static let startedLife = life + .minutes(15)
  /// The time within which a device registers an activity that a push has started. Usually it takes seconds.
  static let registration = TimeSpan.minutes(30)
  /// The time by which the clock of a device may be wrong.
  static let clockError = TimeSpan.minutes(10)
  /// The time for which a start is remembered: the 8 h of an activity's life, and the 4 h that it may stay on the lock screen
  /// after that.
  static let startMemory = TimeSpan.hours(12)
  /// The time for which a dismissal is remembered. A run that lasts longer may be started again.
  static let dismissalMemory = TimeSpan.hours(24)
  /// The largest age of an event by which an activity is still started, when the event could not start it at once. The activity would
  /// show the newest content, but a person does not expect it any more.
  static let lateStart = TimeSpan.hours(1)
  /// The time after which an alert that waits for a token is not sent any more. Usually it goes at the instant at which there is one.
  static let lateAlert = TimeSpan.minutes(1)
  /// The time after which an end counts as taken by APNs although the sender has said nothing.
  static let endAnswer = TimeSpan.minutes(15)
}
