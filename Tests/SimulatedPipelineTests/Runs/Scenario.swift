import Domain
import Installation
import KafkaClient
import Pipeline
import Planning
import Policies

/// The parameters of a run, drawn from its seed: its size, the faults and their frequency.
struct Scenario {
  let seed: UInt64
  var partitions: Int
  var devices: Int
  var planners: Int
  var intakes: Int
  var publications: Int
  /// The number of faults in a thousand calls; 0 for none.
  var faultsPerThousand: Int
  /// The faults that may happen. Each seed leaves some out, so that others get further.
  var mishaps: [Mishap]
  var keepsSnapshots: Bool
  var hasAudit: Bool
  /// The index of the policy that is in force at first.
  var firstPolicy: Int
  var changesPolicy: Bool
  var refunds: Bool
  /// Whether most events have different subjects, more than planners remember. Then no event is sent again, because a
  /// planner that has forgotten it would decide it again.
  var isCrowded: Bool
  /// Whether the broker refuses decisions about some of the events.
  var refusesSome: Bool
  var settings: PipelineSettings
  /// The session time-out and the transaction time-out, in µs.
  var session: Int64
  var transaction: Int64

  static let prefix = "sim."

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededRandom(seed: seed, stream: 1)
    partitions = random.pick([(1, 1), (2, 4), (3, 3)])
    devices = 3 + random.below(5)
    planners = 1 + random.below(3)
    intakes = 1 + random.below(2)
    publications = 15 + random.below(25)
    faultsPerThousand = random.pick([(0, 1), (2, 2), (5, 4), (10, 4), (25, 2), (50, 1), (100, 1)])
    mishaps = Mishap.allCases.filter { _ in random.chance(2, in: 3) }
    keepsSnapshots = random.chance(1, in: 2)
    hasAudit = random.chance(2, in: 3)
    firstPolicy = random.below(Self.policies.count)
    changesPolicy = random.chance(1, in: 3)
    refunds = random.chance(1, in: 4)
    isCrowded = random.chance(1, in: 6)
    session = [1_000_000, 3_000_000, 6_000_000, 10_000_000][random.below(4)]
    transaction = [4_000_000, 8_000_000, 15_000_000][random.below(3)]
    settings = PipelineSettings(
      kafka: KafkaConfiguration([
        ("bootstrap.servers", "simulated"), ("session.timeout.ms", "\(session / 1000)"),
        ("max.poll.interval.ms", "20000"), ("queue.buffering.max.messages", "\(Self.queueMax)"),
      ]), topics: TopicNames(prefix: Self.prefix), eventTopics: [Self.prefix + "events"], group: Self.prefix + "group",
      instance: "sim")
    settings.planner.transactionTimeout = .microseconds(transaction)
    settings.isStaticMember = random.chance(1, in: 4)
    // Otherwise the stages choose the cooperative assignor.
    if random.chance(1, in: 4) {
      settings.kafka["partition.assignment.strategy"] = random.chance(1, in: 2) ? "range" : "roundrobin"
    }
    settings.planner.pollRecordsMax = 1 + random.below(20)
    settings.planner.stepDecisionsMax = 1 + random.below(6)
    settings.planner.transactionBytesMax = random.pick([(1500, 1), (6000, 2), (100_000, 2)])
    settings.planner.commitInterval = .milliseconds(random.pick([(20, 1), (100, 2), (400, 1)]))
    settings.planner.snapshotInterval = .milliseconds(random.pick([(200, 1), (2000, 1)]))
    settings.intake.pollRecordsMax = 1 + random.below(12)
    settings.intake.duplicateWindow = 8 + random.below(40)
    settings.intake.plannerLagMax = random.pick([(0, 1), (10, 1), (100, 2)])
    settings.bounds.causesPerInstanceMax = 2 + random.below(6)
    settings.bounds.subjectsPerGenerationMax = isCrowded ? 4 : Self.subjectsMax
    // From tiny chunks that are always rewritten up to the usual sizes.
    settings.bounds.stateChunkBytesMax = random.pick([(150, 1), (1000, 1), (64 * 1024, 1)])
    settings.bounds.stateSpareBytes = random.pick([(0, 2), (1000, 1), (1024 * 1024, 1)])
    refusesSome = random.chance(1, in: 6)
    // From records that are all in pieces up to the usual size.
    settings.bounds.stateRecordBytesMax = random.pick([(60, 1), (300, 1), (512 * 1024, 2)])
    // From one decision a block up to the usual size.
    settings.planner.decisionBlockBytesMax = random.pick([(1, 1), (1500, 2), (DecisionBlock.bytesMax, 3)])
    // Otherwise a planner's records reach the broker at the commit only.
    if random.chance(2, in: 3) { settings.kafka["linger.ms"] = "5" }
  }

  /// The number of pairs of subject and event type in the traffic. A planner that forgot a pair would decide an event again
  /// that is sent again.
  static let subjectsMax = 12

  /// The beginning of the ids of events about which the broker refuses decisions.
  static let refusedPrefix = "refused-"

  /// The number of partitions of the topic of events.
  static let eventPartitions = 2

  /// The number of messages that the queue of a producer holds.
  static let queueMax = 2000

  static let policy = """
    version: sim.1
    quietHours: { from: "23:00", to: "06:00", exceptRelevance: 0.8 }
    kinds:
      FlightStatus:
        surface: widget
        budget: { perDay: 3, minInterval: 1m }
        halfLife: 20m
        displays: [ { field: data.delay, round: 5 } ]
        rules:
          - event: flight.delay.changed
            relevance: { base: 0.5 }
      Score:
        surface: widget
        budget: { perDay: 2, minInterval: 2m }
        halfLife: 10m
        rules:
          - event: score.changed
            relevance: { base: 0.9 }
          - event: flight.delay.changed
            relevance: { base: 0.1 }
      GateControl:
        surface: control
        budget: { perDay: 6, minInterval: 0s }
        halfLife: 20m
        displays: [ { field: data.delay, round: 2 } ]
        rules:
          - event: "flight.*"
            relevance: { base: 0.5 }
      FlightActivity:
        surface: liveActivity
        halfLife: 20m
        displays: [ { field: data.delay, round: 30 }, { field: data.goals, round: 2 } ]
        rules:
          - { event: flight.boarding, action: start, relevance: { base: 0.9 } }
          - { event: flight.delay.changed, relevance: { base: 0.2, add: [ { magnitudeOf: data.goals, per: 4, weight: 0.7 } ] } }
          - { event: flight.arrived, action: end, relevance: { base: 0.5 } }
        activity:
          attributesType: FlightAttributes
          contentState: { delay: { field: data.delay, default: 0 } }
          alert: { title: "Boarding", body: "Delay {data.delay}" }
          quietEnd: 10m
      MatchActivity:
        surface: broadcast
        halfLife: 20m
        displays: [ { field: data.delay, round: 30 }, { field: data.goals, round: 2 } ]
        rules:
          - { event: score.changed, relevance: { base: 0.9 } }
          - { event: flight.delay.changed, relevance: { base: 0.1 } }
          - { event: match.ended, action: end, relevance: { base: 0.9 } }
        activity:
          contentState: { goals: "{data.goals}" }
          quietEnd: 10m
    """

  static let policies = [
    policy,
    policy.replacing("sim.1", with: "sim.2").replacing("perDay: 3", with: "perDay: 5")
      .replacing("kinds:", with: "apps: { com.example.flights: { perDay: 14 } }\nkinds:"),
    policy.replacing("sim.1", with: "sim.3").replacing("minInterval: 1m", with: "minInterval: 3m"),
  ]
}
