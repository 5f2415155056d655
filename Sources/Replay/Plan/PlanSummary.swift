public import Domain
public import JSON
public import Planning
public import Policies

/// The counts of a run of the planner over files.
public struct PlanSummary: Equatable, Sendable {
  /// A verdict with its reason.
  public struct Outcome: Hashable, Sendable {
    /// The verdict of a decision.
    public var verdict: Verdict
    /// The reason code of the decision.
    public var reason: Reason
  }

  /// The number of lines that were read as registrations.
  public var registrations = 0
  /// The number of lines that were read as events.
  public var events = 0
  /// The number of lines that were read as signals.
  public var signals = 0
  /// The number of ticks that the run planned because a timer was due.
  public var ticks = 0
  /// The number of events and signals whose time was earlier than log time. They were planned at log time.
  public var outOfOrder = 0
  /// The number of lines that could not be used, in all files.
  public var deadLetters = 0
  /// The number of lines that could not be used in the file of the registrations.
  public var refusedRegistrations = 0
  /// The number of lines that could not be used in the file of the events.
  public var refusedEvents = 0
  /// The number of lines that could not be used in the file of the signals.
  public var refusedSignals = 0
  /// The number of events with more interest keys than an event may have. Subscribers to the further keys were skipped.
  public var eventsWithKeysLeftOut = 0
  /// The first few lines that could not be used.
  public var firstDeadLetters: [RefusedLine] = []
  /// The number of devices registered at the end.
  public var devices = 0
  /// The number of instances registered at the end.
  public var instances = 0
  /// The number of decisions.
  public var decisions = 0
  /// The number of decisions by outcome, the most frequent outcome first.
  public var outcomes: [(outcome: Outcome, count: Int)] = []
  /// The number of commands.
  public var commands = 0
  /// The number of commands by surface, for every surface in the order of `Surface.allCases`.
  public var commandsBySurface: [(surface: Surface, count: Int)] = []
  /// The number of Live Activity and broadcast pushes by the size of their bodies, in the order of `PayloadBand.allCases`.
  /// The last band counts bodies that were too large, which became no commands.
  public var payloads: [(band: PayloadBand, count: Int)] = PayloadBand.allCases.map { ($0, 0) }
  /// The first body that was too large of each kind, for the first few such kinds.
  public var refusedPayloads: [LargePayload] = []
  /// The number of activities that ran without a token at some time, or whose newest push was refused at the last record.
  public var zombies = 0
  /// The first few of them.
  public var firstZombies: [Zombie] = []
  /// The number of tokens charged by ledger, in the order of `Command.Ledger.allCases`.
  public var charged: [Int] = Command.Ledger.allCases.map { _ in 0 }
  /// The number of (event, instance) pairs that still wait at the end.
  public var pending = 0
  /// The time of the first event or signal; nil without any.
  public var first: Timestamp?
  /// The latest time of an event or signal; nil without any.
  public var last: Timestamp?

  /// Creates a summary of nothing.
  public init() {}

  /// The number of refused lines kept for showing.
  static let firstDeadLettersMax = 5

  /// The number of zombies kept for showing.
  static let firstZombiesMax = 20

  /// The number of kinds of which a refused payload is kept for showing.
  static let refusedPayloadsMax = 5

  /// Compares the JSON of two summaries.
  public static func == (a: PlanSummary, b: PlanSummary) -> Bool { a.json() == b.json() }
}

extension PlanSummary {
  /// Returns the summary as one JSON object.
  /// - Parameter extra: Writes further members before the object ends.
  public func json(extra: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
    var json = JSONWriter(reserving: 2048)
    json.beginObject()
    json.members(counts)
    writeOutcomes(to: &json)
    json.counts("commandsBySurface", commandsBySurface.lazy.map { ($0.rawValue, $1) })
    writePayloads(to: &json)
    writeZombies(to: &json)
    json.counts("charged", zip(Command.Ledger.allCases, charged).lazy.map { ($0.rawValue, $1) })
    if let first, let last {
      json.member("from", first.description)
      json.member("to", last.description)
    }
    json.array("firstDeadLetters", firstDeadLetters) { letter, json in json.string(letter.description) }
    json.member("eventsWithKeysLeftOut", eventsWithKeysLeftOut)
    extra(&json)
    json.endObject()
    return json.bytes
  }

  private func writeOutcomes(to json: inout JSONWriter) {
    json.objects("outcomes", outcomes) { element, json in
      let (outcome, count) = element
      json.member("verdict", outcome.verdict.rawValue)
      json.member("reason", outcome.reason.rawValue)
      json.member("decisions", count)
    }
  }

  private func writePayloads(to json: inout JSONWriter) {
    json.counts("payloads", payloads.lazy.map { ($0.rawValue, $1) })
    json.objects("refusedPayloads", refusedPayloads) { payload, json in
      json.member("kind", payload.kind)
      json.member("event", payload.event)
      json.member("bytes", payload.bytes)
      json.member("bytesMax", payload.bytesMax)
      json.member("refused", payload.count)
      json.counts("largest", payload.members.lazy.map { ($0.name.text, $0.bytes) })
    }
  }

  private func writeZombies(to json: inout JSONWriter) {
    json.member("zombies", zombies)
    json.objects("firstZombies", firstZombies) { zombie, json in
      json.member("device", zombie.device)
      json.member("subject", zombie.subject)
      json.member("kind", zombie.kind)
      json.member("since", zombie.since.description)
      json.member("cause", zombie.cause.rawValue)
    }
  }

  private var counts: [(StaticString, Int)] {
    [
      ("registrations", registrations), ("events", events), ("signals", signals), ("ticks", ticks),
      ("outOfOrder", outOfOrder), ("deadLetters", deadLetters), ("devices", devices), ("instances", instances),
      ("decisions", decisions), ("commands", commands), ("pending", pending),
    ]
  }
}
