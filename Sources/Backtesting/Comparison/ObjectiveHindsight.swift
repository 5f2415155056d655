public import Domain
public import Policies
import Replay

/// Compares the decisions of a run with the best schedules of reloads in hindsight: how many of the changes that count for the
/// objectives of kinds were shown in time, and how many could have been.
public struct ObjectiveHindsight {
  private struct Instance: Hashable {
    var device: Identifier
    var instance: Identifier
    var kind: Identifier
  }

  private let policy: Policy
  private let sample: DeviceSample
  private var record: ObjectiveRecord
  private var instances: [Instance] = []
  private var places: [Instance: Int] = [:]
  private var zones: [Identifier: String] = [:]

  /// Prepares a comparison.
  /// - Parameters:
  ///   - policy: The policy with the objectives and the budgets.
  ///   - share: The share of the devices that are compared, above 0; 1 for all. A hash of its id chooses a device.
  public init(_ policy: Policy, share: Double) {
    self.policy = policy
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
    let place = instances.count
    instances.append(instance)
    places[instance] = place
    record.add(kind: instance.kind)
    record.note(decision, stream: place)
  }

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
