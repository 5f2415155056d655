import Domain
import InMemoryLogging
import KafkaClient
import Logging
import Testing

@testable import Installation
@testable import Pipeline

/// The time that a killed intake costs. The session is 6 s.
@Suite("the membership of intake")
struct IntakeMembershipTests {
  private let broker = SimulatedBroker()
  private let counters = PipelineCounters()
  private let settings: PipelineSettings

  init() {
    var settings = PipelineSettings(
      kafka: ["bootstrap.servers": "simulated"], topics: TopicNames(prefix: "m."), eventTopics: ["m.events"],
      group: "m", instance: "one")
    settings.isStaticMember = true
    settings.intake.plannerLagMax = 0
    self.settings = settings
    for name in settings.topics.all + settings.eventTopics { broker.createTopic(name, partitions: 2) }
  }

  private func intake(_ process: SimulatedProcess, instance: String = "one") throws -> Intake {
    var settings = settings
    settings.instance = instance
    let intake = Intake(
      settings: settings, stop: StopSignal(), counters: counters,
      logger: Logger(label: "test") { _ in InMemoryLogHandler() }, cluster: process,
      clock: SimulatedClock(process: process))
    try intake.start()
    return intake
  }

  /// Publishes one event to each partition.
  private func publish(_ id: String) throws {
    let process = SimulatedProcess(name: "publisher", broker: broker)
    let producer = try process.producer(["enable.idempotence": "true"], queueFullTimeout: .seconds(5))
    let time = Timestamp(milliseconds: broker.time.brokerMilliseconds)
    for partition in 0..<2 {
      try producer.send(
        "m.events",
        #"{"specversion":"1.0","id":"\#(id)-\#(partition)","source":"/test","type":"t","subject":"s","time":"\#(time)"}"#,
        partition: Int32(partition))
    }
    try producer.flushAll()
  }

  /// Lets intakes work in turn until so many events are accepted. Returns the time that it took.
  private func work(_ intakes: Intake..., accepted: Int) throws -> Duration {
    let began = broker.time.now
    for turn in 0..<2000 where counters[.eventsAccepted] < accepted { try intakes[turn % intakes.count].workOnce() }
    #expect(counters[.eventsAccepted] == accepted)
    return .microseconds(broker.time.now - began)
  }

  @Test("a killed one reads on at once when it is back under its name")
  func back() throws {
    let process = SimulatedProcess(name: "intake", broker: broker)
    try publish("e1")
    _ = try work(intake(process), accepted: 2)
    process.crash()
    try publish("e2")
    let again = try intake(SimulatedProcess(name: "intake again", broker: broker))
    #expect(try work(again, accepted: 4) < .seconds(2))
    again.end()
    #expect(broker.group("m-intake").members.isEmpty, "an orderly end leaves the group")
  }

  @Test("a killed one that stays away costs the others its session")
  func away() throws {
    let process = SimulatedProcess(name: "intake", broker: broker)
    let one = try intake(process)
    let two = try intake(SimulatedProcess(name: "other", broker: broker), instance: "two")
    try publish("e1")
    _ = try work(one, two, accepted: 2)
    process.crash()
    try publish("e2")
    let time = try work(two, accepted: 4)
    #expect(time > .seconds(4) && time < .seconds(8))
  }

  @Test("one whose name another process has taken ends for good")
  func replaced() throws {
    let old = try intake(SimulatedProcess(name: "intake", broker: broker))
    try publish("e1")
    _ = try work(old, accepted: 2)
    let new = try intake(SimulatedProcess(name: "intake again", broker: broker))
    try publish("e2")
    _ = try work(new, accepted: 4)
    let error = #expect(throws: PipelineError.self) { for _ in 0..<200 { try old.workOnce() } }
    #expect(error?.isReplaced == true && error?.isWorthRetrying == false)
  }
}
