import Domain

/// The additional state of instances that have a push token of their own: controls, activities and push-to-start tokens. Other
/// folders change it by its functions only; `Ledgers` changes `rate`.
struct AddressedState {
  /// The token, or the id of a broadcast channel.
  var token = ""
  /// Whether `token` is the id of a broadcast channel.
  var isChannel = false
  /// Whether APNs has refused the token for good.
  var tokenDead = false
  /// Whether the device's system takes no pushes to Live Activities, and shows those of a phone nearby.
  var isMirror = false
  /// Whether the person allows frequent updates.
  var frequentPushes = false
  /// Whether the activity is over: an end push was sent, its life has ended, or the device has reported it.
  var ended = false
  /// The tokens spent of the rate of the control's pushes, or of the activity's priority-10 pushes.
  var rate = RateState()
  /// The `timestamp` in the payload of the last push, in Unix seconds. The next one must be larger.
  var timestamp: Int64 = 0
  /// The instant at which the activity was started; for a broadcast channel, the start of the newest activity.
  var startedAt = Timestamp(microseconds: 0)
  /// The log time of the last new event about the activity's subject, pushed or not; that of the registration before the first one, and
  /// of one that makes an ended channel live again.
  var lastEventAt = Timestamp(microseconds: 0)
  /// The key of what is known of the subject that the last push told of (`SubjectMemory.contentKey`); none before the first push.
  var content = KeyedHash.none
  /// The content of the last push.
  var told = Told()
  /// The log time at which the activity is pushed its newest content, or its end, without an event that decides it (`Fleet.payOwed`); the
  /// distant future if nothing is owed.
  var owedAt = Timestamp.distantFuture
  /// Whether the push that is owed carries the alert of an update for which there was no token.
  private(set) var owesAlert = false
  /// The newest push to the activity, until the sender says what APNs answered; nil if there is none.
  var unanswered: SentPush?
  /// The number of times in a row that APNs has refused what the activity should show.
  var refusals: UInt8 = 0
  /// The activities of its subjects, as this push-to-start token knows them.
  var subjects: [SubjectActivity] = []
  /// The log time at which this push-to-start token last stopped to listen to a key.
  var listensSince = Timestamp(microseconds: 0)

  // MARK: Changes

  /// Takes a push token. A rejected token stays dead until another one comes.
  /// - Parameters:
  ///   - token: The token, or the id of a broadcast channel.
  ///   - isChannel: Whether `token` is the id of a broadcast channel.
  /// - Returns: Whether it is another token than before.
  @discardableResult
  mutating func address(token: String, isChannel: Bool) -> Bool {
    let token = isChannel ? token : TokenPair.lowercased(token)
    let isOther = self.token != token
    if isOther { noteNewToken() }
    self.token = token
    self.isChannel = isChannel
    return isOther
  }

  /// Notes that the token is another one than that to which was pushed before, if only by its environment or app.
  mutating func noteNewToken() {
    tokenDead = false
    // APNs may not have taken an end that went to the token before, so the new one gets it.
    if unanswered?.isEnd == true || isEndRefused { ended = false }
    (unanswered, refusals) = (nil, 0)
    for place in subjects.indices { subjects[place].push?.isToOldToken = true }
  }

  /// Notes that APNs has refused the token for good. An end that APNs has not answered cannot have reached it.
  mutating func reject() {
    tokenDead = true
    if unanswered?.isEnd == true { ended = false }
  }

  /// Forgets that APNs has refused the token, because it belongs to another environment or app from now on.
  mutating func forgetRejection() { if !token.isEmpty { tokenDead = false } }

  /// Takes the token away, because another install has it now.
  mutating func loseToken() {
    token = ""
    tokenDead = true
  }

  /// Notes the system of the device.
  /// - Parameter platform: Its name in the registration. Only iOS and iPadOS take pushes to Live Activities.
  ///   Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
  mutating func note(platform: String) { isMirror = !["ios", "ipados"].contains(platform.lowercased()) }

  /// Whether a push can reach the activity, as far as its token and its system tell.
  var isReachable: Bool { !tokenDead && !isMirror }

  /// Whether another install has taken the token.
  var hasLostToken: Bool { token.isEmpty && tokenDead }

  /// Takes over what a device has registered of an activity. Call `address` first. On a channel the newest start
  /// counts, and a newer one makes an ended channel live again. A start after `now` counts as `now`.
  /// - Parameters:
  ///   - start: The instant at which the activity was started.
  ///   - frequentPushes: Whether the person allows frequent updates.
  ///   - now: Log time.
  mutating func register(startedAt start: Timestamp, frequentPushes: Bool, now: Timestamp) {
    let start = min(start, now)
    self.frequentPushes = frequentPushes
    if isChannel {
      // A channel may outlive its activities, so the start of the newest one counts.
      if start > startedAt, startedAt.microseconds != 0, ended {
        ended = false
        lastEventAt = now
      }
      startedAt = max(start, startedAt)
    } else {
      startedAt = start
    }
    if lastEventAt.microseconds == 0 { lastEventAt = now }
  }

  /// Notes the log time of a new event about the activity's subject.
  mutating func hear(at instant: Timestamp) { lastEventAt = instant }

  /// Notes a push. It shows all that is known, so nothing is owed.
  /// - Parameter timestamp: The `timestamp` in its payload, in Unix seconds.
  mutating func push(timestamp: Int64) {
    self.timestamp = timestamp
    settle()
  }

  /// Notes what a push tells.
  /// - Parameters:
  ///   - told: What it tells.
  ///   - content: The key of what is known of its subject.
  mutating func tell(_ told: Told, of content: KeyedHash) { (self.told, self.content) = (told, content) }

  /// Notes which command a push has become.
  /// - Parameters:
  ///   - push: The push.
  ///   - isNews: Whether an event has caused it, so that it shows something else than what APNs refused.
  mutating func send(_ push: SentPush, isNews: Bool) {
    unanswered = push
    if isNews { refusals = 0 }
  }

  /// Notes that APNs took the newest push.
  mutating func noteAccepted() {
    if unanswered?.isEnd == true { ended = true }
    (unanswered, refusals) = (nil, 0)
  }

  /// Notes that APNs did not take the newest push.
  /// - Parameter retry: The log time at which the activity is pushed again what it should show; nil for never.
  mutating func noteRefused(retry: Timestamp?) {
    (unanswered, owesAlert) = (nil, false)
    refusals = min(refusals, .max - 1) + 1
    if let retry { owe(at: retry) }
  }

  /// Notes that the device has reported the activity as over. What APNs answers to its last push does not matter any more.
  mutating func close() {
    end()
    noteAccepted()
  }

  /// Notes that the subject lives again, and takes back an end that APNs has refused. To a channel whose end was taken, other activities
  /// listen from now on.
  /// - Parameter now: Log time.
  mutating func reopen(at now: Timestamp) {
    if isChannel, ended, !isEndRefused { startedAt = now }
    ended = false
  }

  /// Forgets the activity, because its id stands for another one from now on. The tokens that it has spent stay spent.
  mutating func beginAnew() {
    close()
    (ended, timestamp, told, content) = (false, 0, Told(), .none)
    lastEventAt = Timestamp(microseconds: 0)
  }

  /// Notes that the activity is to be pushed what it should show.
  /// - Parameter due: The log time of the push.
  mutating func owe(at due: Timestamp) { owedAt = due }

  /// Notes that the activity is to be pushed an alert, with what it should show then.
  /// - Parameter due: The log time of the push.
  mutating func owe(alertAt due: Timestamp) { (owedAt, owesAlert) = (min(owedAt, due), true) }

  /// Notes that the activity shows what it should, or cannot be told.
  mutating func settle() { (owedAt, owesAlert) = (.distantFuture, false) }

  /// Notes that the activity is over.
  mutating func end() {
    ended = true
    settle()
  }

  /// Changes the activity of a subject.
  /// - Parameters:
  ///   - subject: The subject.
  ///   - subjectsMax: The largest number of subjects. Beyond it, the one that may be forgotten first goes.
  ///   - now: Log time.
  ///   - change: Changes it. It gets a blank one if nothing is known.
  mutating func know(
    _ subject: Identifier, subjectsMax: Int, now: Timestamp, _ change: (inout SubjectActivity) -> Void
  ) {
    if let place = subjects.firstIndex(where: { $0.subject == subject }) {
      change(&subjects[place])
    } else {
      // A record of the state holds it only with subjects, so that a planner that has read the state has none here either.
      if subjects.isEmpty { listensSince = Timestamp(microseconds: 0) }
      var blank = SubjectActivity(subject: subject, at: now)
      change(&blank)
      subjects.append(blank)
    }
    subjects.removeAll { $0.forgottenAt <= now && !$0.life(at: now).isOnScreen }
    guard subjects.count > subjectsMax else { return }
    let first = subjects.indices.min { subjects[$0].forgottenAt < subjects[$1].forgottenAt }
    if let first { subjects.remove(at: first) }
  }

  /// Returns the activity of a subject; nil if nothing is known of it.
  func activity(of subject: Identifier) -> SubjectActivity? { subjects.first { $0.subject == subject } }

  /// The subjects whose start APNs has refused, as far as the token listens to all keys still to which it listened then.
  var refusedStarts: [Identifier] {
    subjects.filter { $0.lastLife == .notStarted && $0.refusals > 0 && $0.at > listensSince }.map(\.subject)
  }

  /// Forgets that the app was charged for the pushes whose answers are awaited, because the device has moved to another app.
  mutating func forgetAppCharges() {
    unanswered?.isAppCharged = false
    for place in subjects.indices { subjects[place].push?.isAppCharged = false }
  }

  /// Marks the starts up to an instant as registered, so that they never count as zombies.
  mutating func register(startsUpTo instant: Timestamp) {
    for place in subjects.indices where subjects[place].at <= instant { subjects[place].isRegistered = true }
  }

  /// Forgets the tokens spent and the starts, and an activity that is left out.
  mutating func forgetLedger() {
    (rate, startedAt) = (RateState(), Timestamp(microseconds: 0))
    subjects = []
  }

  /// The instant from which the state need not be kept: the rate is full again and all subjects are forgotten.
  var ledgerEnd: Timestamp { subjects.reduce(rate.tat) { max($0, $1.forgottenAt) } }

  /// Whether APNs has refused the end, so that the activity is still on the screen.
  var isEndRefused: Bool { ended && unanswered == nil && refusals > 0 }

  /// The log time at which an end counts as taken although the sender has said nothing; nil if no end is unanswered.
  var endCounts: Timestamp? {
    guard ended, unanswered?.isEnd == true else { return nil }
    return Timestamp(microseconds: timestamp * 1_000_000) + ActivityTimes.endAnswer
  }

  /// The state of the registered activity.
  var life: ActivityLife {
    if endCounts != nil { return .ending }
    if ended, !isEndRefused { return .ended(at: Timestamp(microseconds: timestamp * 1_000_000)) }
    return tokenDead ? .tokenDead : .running(onChannel: isChannel)
  }

  /// The content of a push, as far as it is remembered.
  struct Told: Equatable {
    /// The time of the newest event that has said some of it; the distant past if no push told anything.
    var upTo = Timestamp.distantPast
    /// The importance of the activity, 0…1.
    var score: Float = 0
    /// The log time of the push.
    var at = Timestamp(microseconds: 0)

    /// Returns the importance that the activity has still, 0…1: it fades as news of its kind does.
    func score(at now: Timestamp, inverseHalfLife: Double) -> Float {
      score * Float(Decay.factor(age: max(.zero, now - at), inverseHalfLife: inverseHalfLife))
    }
  }

  /// A push whose answer is awaited.
  struct SentPush: Equatable {
    /// The offset of the record that led to the command.
    var offset: Int64 = 0
    /// The ordinal of the command.
    var ordinal: UInt32 = 0
    /// Whether it ends the activity.
    var isEnd = false
    /// Whether a token of the activity, or one for starts, was charged.
    var isCharged = false
    /// Whether it was charged at the rate of activities of people who allow frequent updates.
    var isFrequent = false
    /// Whether it went to a token that another one has replaced.
    var isToOldToken = false
    /// Whether the app was charged.
    var isAppCharged = false
  }
}
