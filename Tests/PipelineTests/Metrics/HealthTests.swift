import Testing

@testable import Installation
@testable import Pipeline

@Suite("Health of the stages") struct HealthTests {
  private let status = PipelineStatus()
  private let threads = [
    PipelineStatus.StageThread(role: .intake, number: 0), PipelineStatus.StageThread(role: .planner, number: 0),
  ]

  private var reasons: [String] { status.snapshot.reasonsNotReady(threads) }

  @Test("a process is ready when its threads work and its partitions are planned")
  func readiness() {
    #expect(
      reasons == [
        "intake thread 0 has not started, or is about to start again after an error",
        "planner thread 0 has not started, or is about to start again after an error",
      ])
    status.turned(threads[0], at: 1)
    var planner = PipelineStatus.PlannerStatus()
    status.set(planner, of: 0, at: 1)
    #expect(reasons == ["planner thread 0 waits until its group gives it partitions"])
    planner.hasJoined = true
    planner.partitions = [
      PipelineStatus.PartitionStatus(number: 3, state: .waiting),
      PipelineStatus.PartitionStatus(number: 5, state: .restoring),
      PipelineStatus.PartitionStatus(number: 7, state: .stopped),
    ]
    status.set(planner, of: 0, at: 1)
    #expect(
      reasons == [
        "log partition 3 waits until its earlier owner has ended", "the state of log partition 5 is being read",
      ])
    planner.partitions[0].state = .planning
    planner.partitions[1].state = .planning
    status.set(planner, of: 0, at: 1)
    #expect(reasons.isEmpty)
    status.ended(threads[1])
    #expect(reasons == ["planner thread 0 has not started, or is about to start again after an error"])
  }

  @Test("a process whose partition is stopped before a record of a newer release is too old")
  func outdated() {
    var planner = PipelineStatus.PlannerStatus()
    planner.partitions = [3, 7, 5].map { PipelineStatus.PartitionStatus(number: $0, state: .stopped) }
    status.set(planner, of: 0, at: 1)
    #expect(status.snapshot.reasonsOutdated.isEmpty)
    for index in 1...2 { planner.partitions[index].needsUpgrade = true }
    status.set(planner, of: 0, at: 1)
    #expect(
      status.snapshot.reasonsOutdated
        == [5, 7].map { "log partition \($0) is stopped before a record of a newer release: upgrade this process" })
  }

  @Test("a thread is stuck after five minutes without a turn")
  func liveness() {
    for thread in threads { status.turned(thread, at: 1_000_000) }
    #expect(status.snapshot.reasonsStuck(at: 301_000_000).isEmpty)
    status.turned(threads[0], at: 100_000_000)
    #expect(status.snapshot.reasonsStuck(at: 302_000_000) == ["planner thread 0 has made no turn for 301 s"])
  }
}
