import Domain
import Pipeline
import Policies
import Testing

@testable import Benchmarks

@Suite("The load of the benchmarks")
struct FleetLoadTests {
  private static let load = FleetLoad(devices: 10, instances: 3, fanOut: 4, alertPercent: 40)
  /// The number of distinct subjects: 3 widgets of each of 3 groups of devices.
  private static let subjects = 9

  /// The devices whose registrations subscribe to the subject of an event.
  private func interested(in event: DomainEvent) -> [Int] {
    (0..<Self.load.devices).filter { device in
      Self.load.registration(device).widgets.contains { $0.interests.contains(event.subject) }
    }
  }

  @Test("an event reaches the devices of one group, and no group is larger than the fan-out")
  func fanOut() {
    for number in 0..<Self.subjects {
      let reached = interested(in: Self.load.event(number))
      #expect(reached.count == (reached.first == 8 ? 2 : 4), "event \(number) reaches \(reached)")
    }
  }

  @Test("each subject gets an event before any gets a second one")
  func turns() {
    let first = (0..<Self.subjects).map { Self.load.event($0).subject }
    let second = (Self.subjects..<2 * Self.subjects).map { Self.load.event($0).subject }
    #expect(Set(first).count == Self.subjects)
    #expect(first == second)
  }

  @Test("an event goes to the log partition of every device that it reaches, and to no other", arguments: [1, 2, 7])
  func partitions(_ count: Int) {
    for number in 0..<Self.subjects {
      let devices = interested(in: Self.load.event(number))
      let expected = Set(devices.map { DevicePartitioner.partition(of: FleetLoad.id($0), count: Int32(count)) })
      #expect(Self.load.partitions(of: number, count: count) == expected.sorted())
    }
  }

  @Test("log time advances, and a device is reached once an hour")
  func time() {
    let hour = Self.load.time(Self.subjects) - Self.load.time(0)
    // Three groups share an hour; each event is about one of them.
    #expect(hour == .hours(3))
  }

  @Test("about as many events are worth a push as were asked for")
  func alerts() {
    let alerts = (0..<1000).count { Self.load.event($0).type == "bench.alert" }
    #expect((370...430).contains(alerts), "\(alerts) of 1000")
  }

  @Test("an event that is not worth a push repeats the level of its subject's last alert")
  func levels() {
    var levels: [String: String] = [:]
    var repeated = 0
    for number in 0..<20 * Self.subjects {
      let event = Self.load.event(number)
      let level = "\(event.fields[0].value)"
      if event.type == "bench.level.changed" {
        #expect(level == levels[event.subject.text] ?? "\(EventField(path: "x", value: .number(95)).value)")
        repeated += levels[event.subject.text] == nil ? 0 : 1
      } else {
        levels[event.subject.text] = level
      }
    }
    #expect(repeated > 5 * Self.subjects)
  }

  @Test("the policy of the load is valid and knows every kind of its widgets")
  func policy() throws {
    let policy = try PolicyDocument(yaml: FleetLoad.policy, file: "policy").policy
    for widget in FleetLoad(devices: 1, instances: 7, fanOut: 1, alertPercent: 0).registration(0).widgets {
      #expect(policy.kind(named: widget.kind) != nil, "\(widget.kind)")
    }
  }
}
