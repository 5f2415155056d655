import Domain
import Planning
import Policies

/// The replay of the log through one policy: its planner, the reloads that the planner paid for, and the answers of its
/// devices.
final class CandidateReplay {
  /// The name of the policy in the report.
  let name: String
  /// The policy of the planner.
  let policy: Policy
  /// The instants of the reloads that the planner paid for and counts as shown, for each measured instance: µs, rising.
  private(set) var reloads: [[Int64]] = []
  /// The number of decisions so far.
  private(set) var decisions = 0
  /// The number of commands so far.
  private(set) var commands = 0
  /// The counts of each surface, without devices in developer mode.
  private(set) var surfaces: [Surface: SurfaceTally] = [:]
  /// The recount of the ledgers from the commands.
  private(set) var recount: LedgerRecount
  /// The number of receipts that devices sent.
  private(set) var receipts = 0
  /// The changes that count for objectives.
  private(set) var objectives: ObjectiveRecord
  /// The Live Activities as the modelled devices register them.
  private(set) var activities: ModelledActivities
  private let model: DeviceModel
  private var planner: Planner
  private var output = PlannerOutput()
  private var offset: Int64 = 0
  /// The hidden budget of each measured instance; nil if its device grants every push.
  private var budgets: [DeviceBudget?] = []
  /// The records that devices will send in answer to commands, in the order of their times. All answers have the same
  /// delay, so that is the order in which they are made.
  private var answers: [(at: Int64, content: LogRecord.Content)] = []
  /// The index in `answers` of the next one that the planner gets. It is 0 again when all were taken, because `answers` is
  /// emptied then.
  private var answered = 0
  /// The devices in developer mode. Pushes are free for them, so they are left out of the counts.
  private var developers: Set<Identifier> = []
  /// For each device whose last push reloaded instances without showing them anything, that push and these instances.
  private var unserved: [Identifier: (command: Identifier, surface: Surface, instances: Set<Identifier>)] = [:]
  /// For each device, the last command that reloaded measured instances, and the places of their streams.
  private var lastReloads: [Identifier: (command: Identifier, streams: [Int])] = [:]

  /// The largest number of decisions of one step; bounds the memory that a large fan-out needs.
  private static let stepDecisionsMax = 65_536
  /// The number of records after which the planner drops the changes collected for a commit. No commit ever takes them
  /// here, so they would grow with the log.
  private static let forgetEvery: Int64 = 1 << 20
  /// The time from a command to the answer of its device, µs.
  private static let delay = Int64(DeviceModel.receiptSeconds.value * 1e6)

  /// Prepares the replay of one policy.
  init(_ candidate: BacktestOptions.Candidate, model: DeviceModel) {
    name = candidate.name
    policy = candidate.policy
    self.model = model
    planner = Planner(policy: candidate.policy)
    recount = LedgerRecount(candidate.policy)
    objectives = ObjectiveRecord(candidate.policy)
    activities = ModelledActivities(candidate.policy, model: model)
  }

  /// The number of started activities that cannot be updated or ended now.
  var zombies: Int { planner.zombies().count }

  /// Gives every measured instance its hidden budget, and chooses those whose objectives are computed. Called once, when all devices are
  /// registered.
  func equip(_ streams: [InstanceStream], _ devices: ModelledDevices, objectiveShare: Double) {
    objectives.choose(streams, share: objectiveShare)
    budgets = streams.map { devices.budget(of: $0) }
    reloads = Array(repeating: [], count: streams.count)
  }

  /// Plans the ticks that are due before an instant, and the answers that devices have sent by then.
  func tick(before time: Int64, _ streams: MeasuredInstances) {
    while true {
      let due = planner.nextTimer?.microseconds ?? .max
      let answer = answered < answers.count ? answers[answered].at : .max
      if answered < answers.count, answer <= due, answer <= time {
        takeAnswer(streams)
      } else if due < time {
        step(.tick, at: due, streams)
      } else {
        return
      }
    }
  }

  /// Plans the next answer of a device.
  private func takeAnswer(_ streams: MeasuredInstances) {
    let answer = answers[answered]
    answered += 1
    if answered == answers.count {
      answers.removeAll(keepingCapacity: true)
      answered = 0
    }
    step(answer.content, at: answer.at, streams)
  }

  /// Plans one record and counts its decisions and commands.
  func step(_ content: LogRecord.Content, at time: Int64, _ streams: MeasuredInstances) {
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
    case .forget, .policy, .claims, .tick: break
    }
    planner.begin(content, offset: offset, timestamp: Timestamp(microseconds: time))
    offset += 1
    var done = false
    while !done {
      done = planner.advance(into: &output, decisionsMax: Self.stepDecisionsMax)
      decisions += output.decisionCount
      commands += output.commandCount
      for (index, decision) in output.decisions.enumerated() where decision.final {
        if !developers.isEmpty, developers.contains(planner.decision(index, of: output).device) { continue }
        surfaces[decision.surface, default: SurfaceTally()].count(decision)
        if decision.reason == .emittedCoalesced, !unserved.isEmpty { noteJoined(planner.decision(index, of: output)) }
      }
      noteObjectives(streams)
      for index in 0..<output.commandCount { note(planner.command(index, of: output), event: event, streams) }
    }
    if offset % Self.forgetEvery == 0 { planner.takeChanges { _, _ in } }
  }

  /// Notes the decisions of the last step about kinds with an objective.
  private func noteObjectives(_ streams: MeasuredInstances) {
    if objectives.kinds.isEmpty { return }
    for index in output.decisions.indices
    where objectives.kinds.contains(planner.name(of: output.decisions[index].kind)) {
      let decision = planner.decision(index, of: output)
      guard let stream = streams.index(device: decision.device, instance: decision.instance) else { continue }
      objectives.note(decision, stream: stream)
    }
  }

  /// Notes the instances that a push reloads without showing them anything.
  private func noteUnserved(_ command: Command) {
    var instances = Set(command.charged.lazy.filter { $0.ledger == .instance }.map(\.owner))
    for served in command.serves { instances.remove(served.instance) }
    unserved[command.device] = instances.isEmpty ? nil : (command.command, command.surface, instances)
  }

  /// Notes that an event joined a push. If the push had only been charged to the instance, its reload has shown something after all.
  private func noteJoined(_ decision: Decision) {
    guard let last = unserved[decision.device], last.command == decision.command,
      unserved[decision.device]?.instances.remove(decision.instance) != nil
    else { return }
    surfaces[last.surface]?.reloadsWasted -= 1
  }

  /// Counts a command, and lets its device answer.
  private func note(_ command: Command, event: DomainEvent?, _ streams: MeasuredInstances) {
    recount.count(command)
    let isActivity = command.surface.showsActivities
    let action = isActivity ? self.action(of: command) : nil
    if !developers.contains(command.device) {
      surfaces[command.surface, default: SurfaceTally()].count(command, event: action)
      if !isActivity { noteUnserved(command) }
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

  private func answer(_ registration: Registration?, to command: Command) {
    guard let registration else { return }
    answers.append((command.at.microseconds + Self.delay, .registration(registration)))
  }

  /// Returns the `event` of a Live Activity payload: `start`, `update` or `end`. The first member of that name is the
  /// right one, because it comes before the content that a policy defines.
  private func action(of command: Command) -> String? {
    let marker = "\"event\":\""
    guard let found = command.apns.payload.firstRange(of: marker) else { return nil }
    return String(command.apns.payload[found.upperBound...].prefix { $0 != "\"" })
  }

  /// Reverses the last command of a device if APNs refused it: a refused push costs no tokens and shows nothing.
  private func refund(_ signal: Signal) {
    guard case .deliveryCompleted(let command, let outcome, _) = signal.kind, outcome != .accepted,
      recount.refund(command, device: signal.device)
    else { return }
    guard let last = lastReloads.removeValue(forKey: signal.device), last.command == command else { return }
    for stream in last.streams { reloads[stream].removeLast() }
  }
}

extension CandidateReplay {
  /// Returns the totals of the planner.
  /// - Parameter kinds: The results of the kinds; they hold the recount of the instance ledgers.
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
      ledgers: recount.limited.map { BacktestReport.LedgerRecheck(ledger: $0, over: over[$0] ?? 0) },
      startsWithoutToken: activities.startsWithoutToken, zombies: zombies)
  }
}
