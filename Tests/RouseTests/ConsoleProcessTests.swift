import Console
import Operating
import Testing

@testable import Installation
@testable import Pipeline
@testable import rouse

@Suite("The console's own process") struct ConsoleProcessTests {
  @Test(
    "each role has its threads, the reasons why it is not ready, and its oldest turn; partitions are in their order")
  func state() {
    let threads = [
      PipelineStatus.StageThread(role: .intake, number: 0), .init(role: .planner, number: 0),
      .init(role: .planner, number: 1),
    ]
    var status = PipelineStatus.StatusSnapshot()
    (status.turns[threads[1]], status.turns[threads[2]]) = (7, 5)
    var planner = PipelineStatus.PlannerStatus(hasJoined: true)
    planner.partitions = [
      .init(number: 4, state: .planning, next: 9, devices: 1_234), .init(number: 2, state: .restoring),
    ]
    (planner.partitions[0].restoreSeconds, planner.partitions[0].restoredFrom) = (1.25, .snapshot)
    status.planners = [0: planner, 1: PipelineStatus.PlannerStatus(hasJoined: true)]
    let state = ConsoleProcess.state([.intake, .planner, .console], threads, status)
    #expect(state.roles.map(\.role) == [.intake, .planner, .console])
    #expect(state.roles.map(\.threadCount) == [1, 2, nil])
    #expect(state.roles.map(\.oldestTurn) == [nil, 5, nil])
    #expect(state.roles[1].notReady == ["the state of log partition 2 is being read"])
    #expect(
      state.partitions == [
        .init(number: 2, state: "restoring", devices: 0),
        .init(
          number: 4, state: "planning", next: 9, devices: 1_234,
          restore: .init(isUnderWay: false, source: "snapshot", seconds: 1.25)),
      ])
  }
}
