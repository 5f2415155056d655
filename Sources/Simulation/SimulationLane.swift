import Domain
import Planning
import Policies

/// One policy's planner on its way through the log, and the reloads it paid for.
struct SimulationLane {
  let name: String
  let policy: Policy
  /// Per measured instance, µs, rising.
  private(set) var reloads: [[Int64]] = []
  private(set) var decisions = 0
  private(set) var commands = 0
  private var planner: Planner
  private var output = PlannerOutput()
  private var offset: Int64 = 0

  private static let stepDecisionsMax = 65_536
  /// Records after which the planner forgets what a commit would write, so that memory does not grow with the log.
  private static let forgetEvery: Int64 = 1 << 20

  init(_ candidate: SimulationOptions.Candidate) {
    name = candidate.name
    policy = candidate.policy
    planner = Planner(policy: candidate.policy)
  }

  /// Log time, µs.
  var now: Int64 { planner.now }

  /// Fires what is due before an instant.
  mutating func tick(before time: Int64, _ streams: MeasuredInstances) {
    while let due = planner.nextTimer, due < time { step(.tick, at: due, streams) }
  }

  mutating func step(_ content: LogRecord.Content, at time: Int64, _ streams: MeasuredInstances) {
    planner.begin(content, offset: offset, timestamp: time)
    offset += 1
    var done = false
    while !done {
      done = planner.advance(into: &output, decisionsMax: Self.stepDecisionsMax)
      decisions += output.decisionCount
      commands += output.commandCount
      for index in 0..<output.commandCount { note(planner.command(index, of: output), streams) }
    }
    if offset % Self.forgetEvery == 0 { planner.takeChanges { _, _ in } }
  }

  /// What is charged has been reloaded.
  private mutating func note(_ command: Command, _ streams: MeasuredInstances) {
    for charge in command.charged where charge.ledger == .instance {
      guard let stream = streams.index(device: command.device, instance: charge.owner) else { continue }
      while reloads.count <= stream { reloads.append([]) }
      reloads[stream].append(command.at.microseconds)
    }
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
