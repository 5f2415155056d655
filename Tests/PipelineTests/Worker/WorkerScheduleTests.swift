import Testing

@testable import Pipeline

/// The periodic work of a planner thread, on a stepped time.
@Suite("the schedule of a planner thread")
struct WorkerScheduleTests {
  @Test("a commit is due when its interval is over, counted from the last one")
  func commits() {
    var schedule = WorkerSchedule(commitInterval: .milliseconds(100), at: .seconds(1))
    #expect(!schedule.isCommitDue(at: .milliseconds(1099), isIdle: false))
    #expect(schedule.isCommitDue(at: .milliseconds(1100), isIdle: false))
    schedule.commits(at: .milliseconds(1500))
    #expect(!schedule.isCommitDue(at: .milliseconds(1599), isIdle: false))
    #expect(schedule.isCommitDue(at: .milliseconds(1600), isIdle: false))
  }

  @Test(
    "a busy thread plans as long as its last commit took, at most an interval",
    arguments: zip([20, 50, 80, 100, 3000], [1100, 1100, 1160, 1200, 4100]))
  func slowCommits(took: Int, due: Int) {
    var schedule = WorkerSchedule(commitInterval: .milliseconds(100))
    schedule.commits(at: .seconds(1))
    schedule.committed(at: .milliseconds(1000 + took))
    #expect(!schedule.isCommitDue(at: .milliseconds(due - 1), isIdle: false))
    #expect(schedule.isCommitDue(at: .milliseconds(due), isIdle: false))
  }

  @Test("an idle thread commits after a third of the interval, and waits no longer for records than until then")
  func idleCommits() {
    var schedule = WorkerSchedule(commitInterval: .milliseconds(90), at: .seconds(1))
    #expect(!schedule.isCommitDue(at: .milliseconds(1029), isIdle: true))
    #expect(schedule.isCommitDue(at: .milliseconds(1030), isIdle: true))
    let waits = [1000, 1020, 1029, 1030, 1500].map {
      schedule.recordWait(at: .milliseconds($0), isUncommitted: true)
    }
    #expect(waits == [20, 10, 1, 1, 1].map { Duration.milliseconds($0) })
    #expect(schedule.recordWait(at: .milliseconds(1029), isUncommitted: false) == .milliseconds(20))
    // Counted from the end of a commit that takes long.
    schedule.commits(at: .milliseconds(2000))
    schedule.committed(at: .milliseconds(2080))
    #expect(!schedule.isCommitDue(at: .milliseconds(2109), isIdle: true))
    #expect(schedule.recordWait(at: .milliseconds(2100), isUncommitted: true) == .milliseconds(10))
    #expect(schedule.isCommitDue(at: .milliseconds(2110), isIdle: true))
    schedule.commits(at: .milliseconds(3000))
    schedule.committed(at: .milliseconds(3020))
    #expect(!schedule.isCommitDue(at: .milliseconds(3049), isIdle: true))
    #expect(schedule.isCommitDue(at: .milliseconds(3050), isIdle: true))
  }

  @Test("timers are checked in each idle turn, else once a second")
  func timers() {
    var schedule = WorkerSchedule(commitInterval: .seconds(1))
    let busy = [Duration.milliseconds(500), .milliseconds(1001), .milliseconds(1500), .milliseconds(2002)].map {
      schedule.takesTimerCheck(isIdle: false, at: $0)
    }
    #expect(busy == [false, true, false, true])
    let idle = schedule.takesTimerCheck(isIdle: true, at: .milliseconds(2003))
    let busyAgain = schedule.takesTimerCheck(isIdle: false, at: .milliseconds(3003))
    #expect(idle && !busyAgain)
  }

  @Test("planned partitions get as much time as the last question took; without any, questions follow at once")
  func questions() {
    var schedule = WorkerSchedule(commitInterval: .seconds(1))
    #expect(schedule.mayAsk(whilePlanning: true, at: .seconds(5)))
    schedule.asked(from: .seconds(5), to: .seconds(7))
    #expect(!schedule.mayAsk(whilePlanning: true, at: .milliseconds(8999)))
    #expect(schedule.mayAsk(whilePlanning: true, at: .seconds(9)))
    #expect(schedule.mayAsk(whilePlanning: false, at: .seconds(7)))
  }
}
