public import Domain
public import JSON
public import Planning
public import Policies

/// What a run of the planner did, in numbers.
public struct PlanSummary: Equatable, Sendable {
  public struct Outcome: Hashable, Sendable {
    public var verdict: Verdict
    public var reason: Reason
  }

  /// Lines that were read as registrations, events and signals.
  public var registrations = 0
  public var events = 0
  public var signals = 0
  /// Ticks put in because a timer was due.
  public var ticks = 0
  /// Events and signals earlier than log time then was; they were planned at log time.
  public var outOfOrder = 0
  public var deadLetters = 0
  /// Of which in the file of the registrations, the events, the signals.
  public var refusedRegistrations = 0
  public var refusedEvents = 0
  public var refusedSignals = 0
  /// Events with more interest keys than an event may have; what listens to the further keys did not hear of them.
  public var eventsWithKeysLeftOut = 0
  /// The first few.
  public var firstDeadLetters: [RefusedLine] = []
  /// Registered at the end.
  public var devices = 0
  public var instances = 0
  public var decisions = 0
  /// Most frequent first.
  public var outcomes: [(outcome: Outcome, count: Int)] = []
  public var commands = 0
  /// Of every surface, in the order of the type.
  public var commandsBySurface: [(surface: Surface, count: Int)] = []
  /// Live Activity and broadcast pushes by the size of their bodies, the refused ones last: those are no commands.
  public var payloads: [(band: PayloadBand, count: Int)] = PayloadBand.allCases.map { ($0, 0) }
  /// The first refused body of each kind, for a few kinds.
  public var refusedPayloads: [LargePayload] = []
  /// Activities that at some time ran and could not be updated or ended by anybody.
  public var zombies = 0
  /// The first few.
  public var firstZombies: [Zombie] = []
  /// Tokens charged, in the order of `Command.Ledger.allCases`.
  public var charged: [Int] = Command.Ledger.allCases.map { _ in 0 }
  /// (event, instance) pairs that still wait.
  public var pending = 0
  /// Log time of the first record and of the last event or signal.
  public var first: Timestamp?
  public var last: Timestamp?

  public init() {}

  /// Dead letters kept for showing.
  static let firstDeadLettersMax = 5

  /// Zombies kept for showing.
  static let firstZombiesMax = 20

  /// Kinds with refused payloads that are told of.
  static let refusedPayloadsMax = 5

  public static func == (a: PlanSummary, b: PlanSummary) -> Bool { a.json() == b.json() }

  /// One JSON object. `extra` may write further members.
  public func json(extra: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
    var json = JSONWriter(reserving: 2048)
    json.beginObject()
    for (key, value) in counts {
      json.key(key)
      json.integer(value)
    }
    json.key("outcomes")
    json.beginArray()
    for (outcome, count) in outcomes {
      json.beginObject()
      json.key("verdict")
      json.string(outcome.verdict.rawValue)
      json.key("reason")
      json.string(outcome.reason.rawValue)
      json.key("decisions")
      json.integer(count)
      json.endObject()
    }
    json.endArray()
    json.key("commandsBySurface")
    json.beginObject()
    for (surface, count) in commandsBySurface {
      json.key(surface.rawValue)
      json.integer(count)
    }
    json.endObject()
    writePayloads(to: &json)
    writeZombies(to: &json)
    json.key("charged")
    json.beginObject()
    for (ledger, count) in zip(Command.Ledger.allCases, charged) {
      json.key(ledger.rawValue)
      json.integer(count)
    }
    json.endObject()
    if let first, let last {
      json.key("from")
      json.string(first.description)
      json.key("to")
      json.string(last.description)
    }
    json.key("firstDeadLetters")
    json.beginArray()
    for letter in firstDeadLetters { json.string(letter.description) }
    json.endArray()
    json.key("eventsWithKeysLeftOut")
    json.integer(eventsWithKeysLeftOut)
    extra(&json)
    json.endObject()
    return json.bytes
  }

  private func writePayloads(to json: inout JSONWriter) {
    json.key("payloads")
    json.beginObject()
    for (band, count) in payloads {
      json.key(band.rawValue)
      json.integer(count)
    }
    json.endObject()
    json.key("refusedPayloads")
    json.beginArray()
    for payload in refusedPayloads {
      json.beginObject()
      json.key("kind")
      json.string(payload.kind)
      json.key("event")
      json.string(payload.event)
      json.key("bytes")
      json.integer(payload.bytes)
      json.key("bytesMax")
      json.integer(payload.bytesMax)
      json.key("refused")
      json.integer(payload.count)
      json.key("largest")
      json.beginObject()
      for member in payload.members {
        json.key(member.name)
        json.integer(member.bytes)
      }
      json.endObject()
      json.endObject()
    }
    json.endArray()
  }

  private func writeZombies(to json: inout JSONWriter) {
    json.key("zombies")
    json.integer(zombies)
    json.key("firstZombies")
    json.beginArray()
    for zombie in firstZombies {
      json.beginObject()
      json.key("device")
      json.string(zombie.device)
      json.key("subject")
      json.string(zombie.subject)
      json.key("kind")
      json.string(zombie.kind)
      json.key("since")
      json.string(zombie.since.description)
      json.key("cause")
      json.string(zombie.cause.rawValue)
      json.endObject()
    }
    json.endArray()
  }

  private var counts: [(StaticString, Int)] {
    [
      ("registrations", registrations), ("events", events), ("signals", signals), ("ticks", ticks),
      ("outOfOrder", outOfOrder), ("deadLetters", deadLetters), ("devices", devices), ("instances", instances),
      ("decisions", decisions), ("commands", commands), ("pending", pending),
    ]
  }
}
