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
  private var record: ObjectiveRecord
  private var instances: [Instance] = []
  private var places: [Instance: Int] = [:]
  private var zones: [Identifier: String] = [:]
  /// Whether every instance of the sample is compared: false if there were more than the most.
  public private(set) var isComplete = true

  /// Prepares a comparison.
  /// - Parameters:
  ///   - policy: The policy with the objectives and the budgets.
  ///   - share: The share of the devices that are compared, above 0; 1 for all. A hash of its id chooses a device.
  ///   - instancesMax: The most instances that are compared.
  public init(_ policy: Policy, share: Double, instancesMax: Int = .max) {
    self.policy = policy
    self.instancesMax = instancesMax
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

  /// Returns the result of each kind with an objective, in the order of the policy.
  public func results() -> [(kind: Identifier, objective: BacktestReport.Objective)] {
    policy.kinds.compactMap { kind in
      guard var score = kind.objective.map(ObjectiveScore.init) else { return nil }
      for (place, instance) in instances.enumerated() where instance.kind == kind.name {
        score.add(record.changes[place], budget: kind.budget, zone: zones[instance.device] ?? "UTC")
      }
      return (kind.name, score.result)
    }
  }
}
