/// The schedule of the periodic work of a planner thread. Instants count from the start of the thread's clock.
struct WorkerSchedule {
  private let commitInterval: Duration
  private var lastCommit: Duration
  private var lastTimerCheck: Duration
  /// The earliest instant of the next question to the broker about earlier owners, while partitions are planned.
  private var nextQuestion = Duration.zero
  /// The time between two checks for due timers while the thread is busy.
  private static let timerCheckInterval = Duration.seconds(1)

  /// Makes the schedule of a thread that starts to work.
  ///
  /// - Parameters:
  ///   - commitInterval: The longest time between two commits.
  ///   - now: The present instant.
  init(commitInterval: Duration, at now: Duration = .zero) {
    self.commitInterval = commitInterval
    lastCommit = now
    lastTimerCheck = now
  }

  /// Whether the commit interval has passed since the last commit.
  func isCommitDue(at now: Duration) -> Bool { now - lastCommit >= commitInterval }

  /// Notes that a commit begins.
  mutating func commits(at now: Duration) { lastCommit = now }

  /// Returns whether to look for due timers now: in each idle turn, else once a second.
  ///
  /// - Parameters:
  ///   - isIdle: Whether the last poll brought no record.
  ///   - now: The present instant.
  mutating func takesTimerCheck(isIdle: Bool, at now: Duration) -> Bool {
    guard isIdle || now - lastTimerCheck > Self.timerCheckInterval else { return false }
    lastTimerCheck = now
    return true
  }

  /// Whether the broker may be asked about earlier owners now: always if no partition is planned, else after a pause as
  /// long as the last question took.
  func mayAsk(whilePlanning isPlanning: Bool, at now: Duration) -> Bool { !isPlanning || nextQuestion <= now }

  /// Notes a question about earlier owners. The thread planned nothing until the answer came, so planning gets as much
  /// time before the next question.
  ///
  /// - Parameters:
  ///   - began: The instant before the question.
  ///   - now: The instant after the answer.
  mutating func asked(from began: Duration, to now: Duration) { nextQuestion = now + (now - began) }
}
