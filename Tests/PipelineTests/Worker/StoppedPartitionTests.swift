import Domain
import InMemoryLogging
import KafkaClient
import Planning
import Policies
import Testing

@testable import Pipeline

/// The log lines about a partition that stands name `rouse skip` where it leads on, and nowhere else.
@Suite("the log lines about a stopped partition")
struct StoppedPartitionTests {
  /// A record that stops a partition, and the advice about it.
  enum Obstacle: CaseIterable {
    case log
    /// The state of a device.
    case device
    /// The position of the planner.
    case position

    var topic: String {
      switch self {
      case .log: "rouse.log"
      case .device, .position: "rouse.state"
      }
    }
    private func record() throws -> StoppedPartition.Record {
      switch self {
      case .log:
        .log(
          try PartitionProcessor(
            restoring: PlannerRestore(partition: 0, partitionCount: 1), isNew: true, initialPolicy: .none))
      case .device: .state(content: "the state of device d1", isDispensable: true)
      case .position: .state(content: "the position", isDispensable: false)
      }
    }
    var isSkippable: Bool {
      switch self {
      case .log, .device: true
      case .position: false
      }
    }
    var metadata: String {
      switch self {
      case .log: " place=rouse.log[0]@7"
      case .device: " holds=the state of device d1 place=rouse.state[0]@7"
      case .position: " holds=the position place=rouse.state[0]@7"
      }
    }
    func stop(_ reminder: Duration) throws -> StoppedPartition {
      let place = KafkaPosition(KafkaTopicPartition(topic: topic, partition: 0), offset: 7)
      return StoppedPartition(place: place, nextReminder: reminder, record: try record())
    }
  }

  @Test("a reminder gives the advice of the first line", arguments: Obstacle.allCases)
  func reminder(obstacle: Obstacle) throws {
    let log = InMemoryLogHandler()
    let counters = PipelineCounters()
    let report = PlannerReport(logger: log.logger, counters: counters, clock: SteppedClock())
    let stop = try obstacle.stop(.seconds(600))
    switch obstacle {
    case .log: report.stopped(at: stop.place, because: "bad")
    case .device, .position:
      report.stopped(
        stop, because: StateRecordError(key: [], offset: 7, cause: .corrupt(offset: 0, what: "a version")))
    }
    report.stillStopped(stop)
    let lines = log.criticalLines
    #expect(lines.count == 2)
    for line in lines {
      #expect(line.contains("`rouse skip`") == obstacle.isSkippable, "\(line)")
      #expect(line.contains("create rouse.state again") == !obstacle.isSkippable, "\(line)")
    }
    #expect(lines.last?.hasSuffix(obstacle.metadata) == true, "\(lines)")
    #expect(counters[.partitionsStopped] == 1)
  }
}
