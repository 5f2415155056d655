import Domain
import Planning
import Policies
import Replay

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
  /// The Live Activities on the modelled devices.
  private var activities = ModelledActivities()
  /// The fates of pushes to Live Activities; nil before the devices are equipped.
  private var courses: ActivityCourses?
  private var planner: Planner
  private var output = PlannerOutput()
  private var offset: Int64 = 0
  /// The hidden budget of each measured instance; nil if its device grants every push.
  private var budgets: [DeviceBudget?] = []
  /// The receipts that devices will send for reloads, in the order of their times. All have the same delay, so that is the order in
  /// which they are made.
  private var receiptsDue: [(at: Int64, content: Signal)] = []
  /// The index in `receiptsDue` of the next one that the planner gets. It is 0 again when all were taken, because `receiptsDue` is
  /// emptied then.
  private var receiptsTaken = 0
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
  /// The time from a command to the receipt of its device, µs.
  private static let delay = Int64(DeviceModel.receiptSeconds.value * 1e6)

  /// Prepares the replay of one policy.
  init(_ candidate: BacktestOptions.Candidate) {
    name = candidate.name
    policy = candidate.policy
    planner = Planner(policy: candidate.policy)
    recount = LedgerRecount(candidate.policy)
    objectives = ObjectiveRecord(candidate.policy)
  }

  /// The number of activities that pushes did not update or end when the last record had been planned.
  private var zombies = 0

  /// Notes what holds when the last record has been planned, before the timers after it fire.
  func noteEnd(at time: Int64, _ streams: MeasuredInstances) {
    tick(before: time, streams)
    zombies = planner.zombies().count
  }

  /// Gives every measured instance its hidden budget, and chooses those whose objectives are computed. Called once, when all devices are
  /// registered.
  func equip(_ streams: [InstanceStream], _ devices: ModelledDevices, objectiveShare: Double) {
    objectives.choose(streams, share: objectiveShare)
    courses = ActivityCourses(devices.model, looks: devices.looks)
    budgets = streams.map { devices.budget(of: $0) }
    reloads = Array(repeating: [], count: streams.count)
  }

  /// Plans the ticks that are due before an instant, and what devices have said by then.
  func tick(before time: Int64, _ streams: MeasuredInstances) {
    while true {
      let due = planner.nextTimer?.microseconds ?? .max
      let receipt = receiptsTaken < receiptsDue.count ? receiptsDue[receiptsTaken].at : .max
      let activity = activities.next?.microseconds ?? .max
      let answer = min(receipt, activity)
      if answer != .max, answer <= due, answer <= time {
        if receipt <= activity { takeReceipt(streams) } else { takeActivity(streams) }
      } else if due < time {
        step(.tick, at: due, streams)
      } else {
        return
      }
    }
  }

  /// Plans the next receipt of a device.
  private func takeReceipt(_ streams: MeasuredInstances) {
    let receipt = receiptsDue[receiptsTaken]
    receiptsTaken += 1
    if receiptsTaken == receiptsDue.count {
      receiptsDue.removeAll(keepingCapacity: true)
      receiptsTaken = 0
    }
    step(.signal(receipt.content), at: receipt.at, streams)
  }

  /// Plans what is said next about a Live Activity.
  private func takeActivity(_ streams: MeasuredInstances) {
    guard let time = activities.next?.microseconds, let content = activities.takeNext() else { return }
    step(content, at: time, streams)
  }

  /// Plans a registration, with the activities that pushes have started on its device.
  /// - Parameters:
  ///   - registration: The registration, from a file.
  ///   - time: Log time, µs.
  ///   - streams: The measured instances.
  func register(_ registration: Registration, at time: Int64, _ streams: MeasuredInstances) {
    step(.registration(activities.register(registration)), at: time, streams)
  }

  /// Plans one record and counts its decisions and commands. Plans also the registrations of the channels to which the activities of a
  /// registration listen.
  func step(_ content: LogRecord.Content, at time: Int64, _ streams: MeasuredInstances) {
    switch content {
    case .registration(let registration):
      if registration.developerMode {
        developers.insert(registration.device)
      } else {
        developers.remove(registration.device)
      }
      recount.register(registration)
    case .signal(let signal): refund(signal)
    case .event, .forget, .policy, .claims, .tick: break
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
      for index in 0..<output.commandCount { note(planner.command(index, of: output), streams) }
    }
    if offset % Self.forgetEvery == 0 { planner.takeChanges { _, _ in } }
    if case .registration(let registration) = content {
      for channel in registration.channels() { step(.registration(channel), at: time, streams) }
    }
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
  private func note(_ command: Command, _ streams: MeasuredInstances) {
    recount.count(command)
    let isCounted = !developers.contains(command.device)
    if command.surface.showsActivities {
      var course = ModelledActivities.Course()
      if let zone = activities.timeZone(of: command.device), let drawn = courses?.course(of: command, zone: zone) {
        course = drawn
      }
      course.isCounted = isCounted
      let event = activities.take(command, course)
      if isCounted { surfaces[command.surface, default: SurfaceTally()].count(command, event: event) }
      return
    }
    if isCounted {
      surfaces[command.surface, default: SurfaceTally()].count(command, event: nil)
      noteUnserved(command)
    }
    var reloaded: [Int] = []
    for charge in command.charged where charge.ledger == .instance {
      guard let stream = streams.index(device: command.device, instance: charge.owner) else { continue }
      reloads[stream].append(command.at.microseconds)
      reloaded.append(stream)
      guard budgets[stream]?.grants(at: command.at.microseconds) == true else { continue }
      receipts += 1
      receiptsDue.append(
        (
          command.at.microseconds + Self.delay,
          Signal(
            device: command.device, id: "receipt-\(receipts)", time: command.at,
            kind: .widgetFetched(instance: charge.owner))
        ))
    }
    if !reloaded.isEmpty { lastReloads[command.device] = (command.command, reloaded) }
  }

  /// Reverses the last command of a device if APNs refused it: a refused push costs no tokens and shows nothing.
  private func refund(_ signal: Signal) {
    guard case .deliveryCompleted(let command, let outcome, _) = signal.kind, outcome != .accepted,
      recount.refund(command, device: signal.device)
    else { return }
    guard let last = lastReloads[signal.device], last.command == command else { return }
    lastReloads[signal.device] = nil
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
      activities: activities.fates, zombies: zombies)
  }
}
