/// The schedule of the periodic work of a planner thread. Instants count from the start of the thread's clock.
package struct WorkerSchedule {
  private let commitInterval: Duration
  /// The begin and the end of the last commit.
  private var (lastCommit, lastCommitEnd): (Duration, Duration)
  private var lastTimerCheck: Duration
  /// The earliest instant of the next question to the broker about earlier owners, while partitions are planned.
  private var nextQuestion = Duration.zero
  /// The time between two checks for due timers while the thread is busy.
  private static let timerCheckInterval = Duration.seconds(1)

  /// Makes the schedule of a thread that starts to work.
  ///
  /// - Parameters:
  ///   - commitInterval: The commit interval (`PlannerSettings.commitInterval`).
  ///   - now: The present instant.
  package init(commitInterval: Duration, at now: Duration = .zero) {
    self.commitInterval = commitInterval
    (lastCommit, lastCommitEnd) = (now, now)
    lastTimerCheck = now
  }

  /// The divisor of the commit interval that gives the time after which a thread commits that has nothing to plan. Events then become
  /// visible sooner, at the price of up to three times as many transactions.
  private static let idleDivisor = 3
  /// The shortest and the longest wait for the next records.
  private static let (waitMin, waitMax) = (Duration.milliseconds(1), Duration.milliseconds(20))

  /// Whether enough time has passed since the last commit. For a thread with records to plan, that is the commit interval since the
  /// commit began; but a thread plans at least as long as the commit took, up to an interval. So commits of up to an interval take half of
  /// its time at most, and slower ones leave it an interval each. For an idle thread it is a third of the interval since the commit ended.
  ///
  /// - Parameters:
  ///   - now: The present instant.
  ///   - isIdle: Whether the last poll brought no record.
  package func isCommitDue(at now: Duration, isIdle: Bool) -> Bool { now >= busyCommit || isIdle && now >= idleCommit }

  /// The earliest commit of a thread with records to plan.
  private var busyCommit: Duration {
    max(lastCommit + commitInterval, lastCommitEnd + min(lastCommitEnd - lastCommit, commitInterval))
  }

  /// The earliest commit of an idle thread.
  private var idleCommit: Duration { lastCommitEnd + commitInterval / Self.idleDivisor }

  /// Returns the longest time to wait for the next records. It is short while something waits for its commit, which is made once no record
  /// follows.
  ///
  /// - Parameters:
  ///   - now: The present instant.
  ///   - isUncommitted: Whether a planner has changes that the next commit writes.
  func recordWait(at now: Duration, isUncommitted: Bool) -> Duration {
    isUncommitted ? min(Self.waitMax, max(Self.waitMin, idleCommit - now)) : Self.waitMax
  }

  /// Notes that a commit begins.
  package mutating func commits(at now: Duration) { (lastCommit, lastCommitEnd) = (now, now) }

  /// Notes that the commit has ended.
  package mutating func committed(at now: Duration) { lastCommitEnd = now }

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
