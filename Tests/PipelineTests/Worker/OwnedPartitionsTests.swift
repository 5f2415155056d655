import Domain
import KafkaClient
import Planning
import Policies
import Testing

@testable import Pipeline

/// The lives of the partitions of one planner thread, without any client.
@Suite("the partitions of a planner thread")
struct OwnedPartitionsTests {
  private static let now = Duration.seconds(10)
  private static let wait = OwnerWait(since: now, next: now)

  private static func restore(_ partition: Int32) -> PartitionRestore {
    PartitionRestore(partition: partition, at: now) { PlannerRestore(partition: partition, partitionCount: 4) }
  }

  private static func processor(_ partition: Int32) throws -> PartitionProcessor {
    try PartitionProcessor(
      restoring: PlannerRestore(partition: partition, partitionCount: 4), isNew: true, initialPolicy: .none)
  }

  private static let place = KafkaPosition(KafkaTopicPartition(topic: "rouse.log", partition: 1), offset: 7)

  /// Returns an obstacle: a record of the state, or the next log record of a planner.
  private static func stop(_ processor: PartitionProcessor? = nil) -> StoppedPartition {
    let record = processor.map { StoppedPartition.Record.log($0) } ?? .state(content: "notes", isDispensable: true)
    return StoppedPartition(place: place, nextReminder: now + StoppedPartition.reminderInterval, record: record)
  }

  private static func name(_ life: PartitionLife?) -> String {
    switch life {
    case .waiting: "waiting"
    case .restoring: "restoring"
    case .planning: "planning"
    case .stopped(let stop): stop.processor == nil ? "stopped by its state" : "stopped"
    case nil: "illegal"
    }
  }

  @Test("each input leads where the drawing says, and nowhere else")
  func table() throws {
    let restore = Self.restore(1)
    let processor = try Self.processor(1)
    let (byState, byLog) = (Self.stop(), Self.stop(processor))
    let lives: [PartitionLife] = [
      .waiting(Self.wait), .restoring(restore), .planning(processor), .stopped(byLog), .stopped(byState),
    ]
    let inputs: [(String, PartitionLife.Input)] = [
      ("voided", .voided(Self.wait)), ("unsettled", .unsettled(at: Self.now)), ("settled", .settled(restore)),
      ("restored", .restored(processor)), ("unreadable state", .unreadable(byState)),
      ("unreadable", .unreadable(byLog)),
      ("passed over", .passedOver),
    ]
    let expected = [
      "waiting": ["waiting", "waiting", "restoring", "illegal", "illegal", "illegal", "illegal"],
      "restoring": ["waiting", "illegal", "illegal", "planning", "stopped by its state", "illegal", "illegal"],
      "planning": ["waiting", "illegal", "illegal", "illegal", "illegal", "stopped", "illegal"],
      "stopped": ["waiting", "illegal", "illegal", "illegal", "illegal", "illegal", "planning"],
      "stopped by its state": ["waiting", "illegal", "illegal", "illegal", "illegal", "illegal", "illegal"],
    ]
    for life in lives {
      let found = inputs.map { Self.name(life.after($0.1)) }
      #expect(found == expected[Self.name(life)], "\(Self.name(life)): \(inputs.map(\.0))")
    }
  }

  @Test("a partition is never planned by the planner of another")
  func otherPartition() throws {
    #expect(PartitionLife.restoring(Self.restore(1)).after(.restored(try Self.processor(2))) == nil)
  }

  @Test("each question that brings no answer may last twice as long, up to two seconds")
  func questions() {
    var wait = Self.wait
    let timeouts = (0..<5).map { _ in
      wait = wait.longer(at: Self.now)
      return wait.timeout
    }
    #expect(timeouts == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(2), .seconds(2)])
    #expect(wait.since == Self.now && wait.next == Self.now + OwnerWait.pause)
  }

  @Test("assigned and voided partitions are paused once; released ones are forgotten")
  func pauses() throws {
    var owned = OwnedPartitions()
    for partition: Int32 in [2, 0, 1] { owned.wait(for: partition, Self.wait) }
    owned.release(1)
    #expect(owned.numbers == [0, 2] && owned.areRestoring && !owned.arePlanning)
    let pauses = [owned.takePauses(), owned.takePauses()]
    #expect(pauses == [[0, 2], []])
    owned.take(.settled(Self.restore(2)), for: 2)
    owned.take(.restored(try Self.processor(2)), for: 2)
    #expect(owned.arePlanning && owned.processors.map(\.partition) == [2])
    #expect(owned.checkInvariants().isEmpty)
    owned.wait(for: 2, Self.wait)
    #expect(owned.checkInvariants().isEmpty)
    let again = owned.takePauses()
    #expect(!owned.arePlanning && again == [2])
  }

  @Test("a stopped partition neither plans nor restores, and keeps the orders until it is released")
  func stopped() throws {
    var owned = OwnedPartitions()
    owned.wait(for: 1, Self.wait)
    #expect(owned.takePauses() == [1])
    owned.take(.settled(Self.restore(1)), for: 1)
    owned.take(.unreadable(Self.stop()), for: 1)
    #expect(owned.areStopped && owned.stops.map(\.place) == [Self.place])
    let reminders = [Duration.zero, .seconds(601), .seconds(602)].map { owned.takeReminders(at: Self.now + $0).count }
    #expect(reminders == [0, 1, 0])
    #expect(!owned.areRestoring && owned.restoring.isEmpty && !owned.arePlanning && owned.checkInvariants().isEmpty)
    owned.leaveOut(7, of: 1)
    owned.wait(for: 1, Self.wait)
    #expect(owned.areRestoring && owned.restoring == [1] && owned.leftOut(of: 1) == [7])
    owned.release(1)
    #expect(owned.leftOut(of: 1).isEmpty)
  }

  @Test("a restore of another partition is a violation")
  func violations() {
    var owned = OwnedPartitions()
    owned.wait(for: 3, Self.wait)
    owned.take(.settled(Self.restore(2)), for: 3)
    #expect(owned.checkInvariants().count == 2, "\(owned.checkInvariants())")
  }
}
