import Domain
import Planning
import Policies

/// One policy's planner on its way through the log, the reloads it paid for, and what its devices answer.
struct CandidateReplay {
  let name: String
  let policy: Policy
  /// Per measured instance, µs, rising: what the planner paid for and believes shown.
  private(set) var reloads: [[Int64]] = []
  private(set) var decisions = 0
  private(set) var commands = 0
  private(set) var surfaces: [Surface: SurfaceTally] = [:]
  private(set) var recount: LedgerRecount
  private(set) var receipts = 0
  private(set) var activities: ModelledActivities
  private let model: DeviceModel
  private var planner: Planner
  private var output = PlannerOutput()
  private var offset: Int64 = 0
  /// What the systems of the measured instances still grant; nil: whatever the planner sends.
  private var budgets: [DeviceBudget?] = []
  /// What the devices will say, by time; each after the same delay, so in the order made.
  private var answers: [(at: Int64, content: LogRecord.Content)] = []
  private var answered = 0
  /// Devices in developer mode: everything is free for them, so they would spoil what is counted.
  private var developers: Set<String> = []
  /// The last command to a device that reloaded measured instances, and which.
  private var lastReloads: [String: (command: String, streams: [Int])] = [:]

  private static let stepDecisionsMax = 65_536
  /// Records after which the planner forgets what a commit would write, so that memory does not grow with the log.
  private static let forgetEvery: Int64 = 1 << 20
  private static let delay = Int64(DeviceModel.receiptSeconds.value * 1e6)

  init(_ candidate: BacktestOptions.Candidate, model: DeviceModel) {
    name = candidate.name
    policy = candidate.policy
    self.model = model
    planner = Planner(policy: candidate.policy)
    recount = LedgerRecount(candidate.policy)
    activities = ModelledActivities(candidate.policy, model: model)
  }

  /// Activities that were started and that nobody can end.
  var zombies: Int { planner.zombies().count }

  /// Gives the measured instances what their systems grant. All are registered by now.
  mutating func equip(_ streams: [InstanceStream], _ devices: ModelledDevices) {
    budgets = streams.map { devices.budget(of: $0) }
    reloads = Array(repeating: [], count: streams.count)
  }

  /// Fires what is due before an instant, and takes what the devices have said by then.
  mutating func tick(before time: Int64, _ streams: MeasuredInstances) {
    while true {
      let due = planner.nextTimer ?? .max
      let answer = answered < answers.count ? answers[answered].at : .max
      if answered < answers.count, answer <= due, answer <= time {
        takeAnswer(streams)
      } else if due < time {
        step(.tick, at: due, streams)
        // The planner's clock stops at the end of the year 9999: a timer beyond that never fires. The devices may still
        // answer.
        if planner.now < due { return takeAnswers(until: time, streams) }
      } else {
        return
      }
    }
  }

  private mutating func takeAnswers(until time: Int64, _ streams: MeasuredInstances) {
    while answered < answers.count, answers[answered].at <= time { takeAnswer(streams) }
  }

  private mutating func takeAnswer(_ streams: MeasuredInstances) {
    let answer = answers[answered]
    answered += 1
    if answered == answers.count {
      answers.removeAll(keepingCapacity: true)
      answered = 0
    }
    step(answer.content, at: answer.at, streams)
  }

  mutating func step(_ content: LogRecord.Content, at time: Int64, _ streams: MeasuredInstances) {
    var event: DomainEvent?
    switch content {
    case .event(let given): event = given
    case .registration(let registration):
      if registration.developerMode {
        developers.insert(registration.device)
      } else {
        developers.remove(registration.device)
      }
      activities.register(registration)
      recount.register(registration)
    case .signal(let signal): refund(signal)
    default: break
    }
    planner.begin(content, offset: offset, timestamp: time)
    offset += 1
    var done = false
    while !done {
      done = planner.advance(into: &output, decisionsMax: Self.stepDecisionsMax)
      decisions += output.decisionCount
      commands += output.commandCount
      for (index, decision) in output.decisions.enumerated() where decision.final {
        if !developers.isEmpty, developers.contains(planner.decision(index, of: output).device) { continue }
        surfaces[decision.surface, default: SurfaceTally()].count(decision)
      }
      for index in 0..<output.commandCount { note(planner.command(index, of: output), event: event, streams) }
    }
    if offset % Self.forgetEvery == 0 { planner.takeChanges { _, _ in } }
  }

  private mutating func note(_ command: Command, event: DomainEvent?, _ streams: MeasuredInstances) {
    recount.count(command)
    let isActivity = command.surface == .liveActivity || command.surface == .broadcast
    let action = isActivity ? self.action(of: command) : nil
    if !developers.contains(command.device) {
      surfaces[command.surface, default: SurfaceTally()].count(command, event: action)
    }
    if isActivity {
      if action == "start" { answer(activities.started(by: command, event: event), to: command) }
      if action == "end" { answer(activities.ended(by: command), to: command) }
      return
    }
    var reloaded: [Int] = []
    for charge in command.charged where charge.ledger == .instance {
      guard let stream = streams.index(device: command.device, instance: charge.owner) else { continue }
      reloads[stream].append(command.at.microseconds)
      reloaded.append(stream)
      guard budgets[stream]?.grants(at: command.at.microseconds) == true else { continue }
      receipts += 1
      answers.append(
        (
          command.at.microseconds + Self.delay,
          .signal(
            Signal(
              device: command.device, id: "receipt-\(receipts)", time: command.at,
              kind: .widgetFetched(instance: charge.owner)))
        ))
    }
    if !reloaded.isEmpty { lastReloads[command.device] = (command.command, reloaded) }
  }

  private mutating func answer(_ registration: Registration?, to command: Command) {
    guard let registration else { return }
    answers.append((command.at.microseconds + Self.delay, .registration(registration)))
  }

  /// `start`, `update` or `end`: the first member of that name, which stands before anything that a policy put there.
  private func action(of command: Command) -> String? {
    let marker = "\"event\":\""
    guard let found = command.apns.payload.firstRange(of: marker) else { return nil }
    return String(command.apns.payload[found.upperBound...].prefix { $0 != "\"" })
  }

  /// What APNs refused was not paid for.
  private mutating func refund(_ signal: Signal) {
    guard case .deliveryCompleted(let command, let outcome) = signal.kind, outcome != .accepted,
      recount.refund(command, device: signal.device)
    else { return }
    guard let last = lastReloads.removeValue(forKey: signal.device), last.command == command else { return }
    for stream in last.streams { reloads[stream].removeLast() }
  }
}

/// Finds measured instances by name.
struct MeasuredInstances {
  private struct Name: Hashable {
    var device: String
    var instance: String
  }
  private var indices: [Name: Int] = [:]

  init(_ streams: [InstanceStream]) {
    for (index, stream) in streams.enumerated() {
      indices[Name(device: stream.device, instance: stream.instance)] = index
    }
  }

  func index(device: String, instance: String) -> Int? { indices[Name(device: device, instance: instance)] }
}

extension CandidateReplay {
  /// What the planner did in all.
  /// - Parameter kinds: what was measured; ledgers of single instances are recounted there.
  func summary(kinds: [BacktestReport.Kind]) -> BacktestReport.Commands {
    var over = recount.over
    over[.instance] = kinds.reduce(0) { sum, kind in
      sum + kind.plans.reduce(0) { $0 + ($1.isPolicy && $1.name == name ? $1.overBudget : 0) }
    }
    return BacktestReport.Commands(
      name: name, decisions: decisions, commands: commands, receipts: receipts,
      surfaces: Surface.allCases.compactMap { surface in
        surfaces[surface].map { BacktestReport.SurfaceCounts(surface: surface, tally: $0) }
      },
      ledgers: recount.limited.map { BacktestReport.LedgerCount(ledger: $0, over: over[$0] ?? 0) },
      startsWithoutToken: activities.startsWithoutToken, zombies: zombies)
  }
}
