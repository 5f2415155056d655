public import Domain
public import Policies
import Replay

/// Compares the decisions of a run with the best schedules of reloads in hindsight: how many of the changes that count for the
/// objectives of kinds were shown in time, and how many could have been.
public struct ObjectiveHindsight: Sendable {
  private struct Instance: Hashable {
    var device: Identifier
    var instance: Identifier
    var kind: Identifier
  }

  private let policy: Policy
  private let sample: DeviceSample
  private let instancesMax: Int
  private let changesMax: Int
  /// The scores of the kinds with an objective, by name, and the number of instances that are in them.
  private var scores: [Identifier: ObjectiveScore] = [:]
  private var scored = 0
  private var record: ObjectiveRecord
  private var instances: [Instance] = []
  private var places: [Instance: Int] = [:]
  private var zones: [Identifier: String] = [:]
  /// Whether everything of the sample is compared: false if there was more than the most.
  public private(set) var isComplete = true

  /// Prepares a comparison.
  /// - Parameters:
  ///   - policy: The policy with the objectives and the budgets.
  ///   - share: The share of the devices that are compared, above 0; 1 for all. A hash of its id chooses a device.
  ///   - instancesMax: The most instances that are compared.
  ///   - changesMax: The most changes of all instances that are compared.
  public init(_ policy: Policy, share: Double, instancesMax: Int = .max, changesMax: Int = .max) {
    self.policy = policy
    (self.instancesMax, self.changesMax) = (instancesMax, changesMax)
    sample = DeviceSample(share)
    record = ObjectiveRecord(policy)
  }

  /// Whether any kind has an objective.
  public var hasObjectives: Bool { !record.kinds.isEmpty }

  /// Takes the time zone of a device, by which its budget days are counted. Without it they are those of UTC.
  public mutating func take(_ registration: Registration) {
    guard sample.holds(registration.device) else { return }
    zones[registration.device] = registration.timeZone
  }

  /// Takes a decision. Those of an instance must come in the order in which they were made.
  public mutating func take(_ decision: Decision) {
    guard record.kinds.contains(decision.kind) else { return }
    guard record.count < changesMax else {
      isComplete = false
      return
    }
    let instance = Instance(device: decision.device, instance: decision.instance, kind: decision.kind)
    if let place = places[instance] { return record.note(decision, stream: place) }
    guard sample.holds(decision.device) else { return }
    guard instances.count < instancesMax else {
      isComplete = false
      return
    }
    let place = instances.count
    instances.append(instance)
    places[instance] = place
    record.add(kind: instance.kind)
    record.note(decision, stream: place)
  }

  /// The devices whose instances are compared.
  public var devices: Set<Identifier> { Set(instances.map(\.device)) }

  /// Forgets all time zones, so that days are those of UTC.
  public mutating func forgetZones() { zones = [:] }

  /// Compares further instances with their best schedules. Take everything before.
  ///
  /// - Parameter count: The most instances of this call.
  /// - Returns: Whether all are compared.
  public mutating func score(_ count: Int) -> Bool {
    if scored == 0 {
      for kind in policy.kinds { scores[kind.name] = kind.objective.map(ObjectiveScore.init) }
    }
    let end = min(instances.count, scored.addingSaturating(count))
    for place in scored..<end {
      let instance = instances[place]
      guard let kind = policy.kind(named: instance.kind) else { continue }
      scores[kind.name]?.add(record.changes[place], budget: kind.budget, zone: zones[instance.device] ?? "UTC")
    }
    scored = end
    return scored == instances.count
  }

  /// Returns the result of each kind with an objective, in the order of the policy.
  public mutating func results() -> [(kind: Identifier, objective: BacktestReport.Objective)] {
    _ = score(.max)
    return policy.kinds.compactMap { kind in scores[kind.name].map { (kind.name, $0.result) } }
  }
}
