import Domain
import Policies
import Replay

/// The changes that count for the objectives of kinds, as the decisions of one policy's planner say.
struct ObjectiveRecord: Sendable {
  /// The names of the kinds with an objective; decisions about others need not be noted.
  let kinds: Set<Identifier>
  /// The changes of each measured instance; none for instances that are not in the sample.
  private(set) var changes: [[CountedChange]] = []
  /// For each measured instance, the time in which a change is to be shown, µs; nil if it is not in the sample.
  private var freshWithin: [Int64?] = []
  /// For each measured instance, the arrivals of the events that wait, µs. A planner bounds their number.
  private var waiting: [[Identifier: Int64]] = []
  private let policy: Policy
  /// The number of changes and of events that wait, of all measured instances.
  private(set) var count = 0

  /// Prepares a record for the kinds of a policy.
  init(_ policy: Policy) {
    self.policy = policy
    kinds = Set(policy.kinds.filter { $0.objective != nil }.map(\.name))
  }

  /// Chooses the sample: all instances of a part of the devices, by a hash of the device's id.
  /// - Parameters:
  ///   - streams: The measured instances.
  ///   - share: The share of the devices, above 0; 1 for all.
  mutating func choose(_ streams: [InstanceStream], share: Double) {
    for stream in streams { add(kind: DeviceSample(share).holds(stream.device) ? stream.kind : nil) }
  }

  /// Adds an instance behind the others.
  /// - Parameter kind: The kind of the instance; nil if it is not in the sample.
  mutating func add(kind: Identifier?) {
    freshWithin.append(kind.flatMap { policy.kind(named: $0)?.objective?.freshWithin.microseconds })
    changes.append([])
    waiting.append([:])
  }

  /// Notes a decision about a measured instance.
  /// - Parameters:
  ///   - decision: The decision.
  ///   - stream: The place of the instance.
  mutating func note(_ decision: Decision, stream: Int) {
    guard stream < freshWithin.count, let freshWithin = freshWithin[stream] else { return }
    let now = decision.at.microseconds
    guard decision.final else {
      // The first decision about an event is made when it arrives.
      if waiting[stream][decision.event] == nil {
        waiting[stream][decision.event] = now
        count += 1
      }
      return
    }
    let waited = waiting[stream].removeValue(forKey: decision.event)
    if waited != nil { count -= 1 }
    let arrival = waited ?? now
    guard let objective = decision.objective else { return }
    // An expired event could no longer be shown.
    let end = decision.reason == .expired ? min(now, arrival + freshWithin) : arrival + freshWithin
    let isPushed = decision.reason.outcome == .sent || decision.reason.outcome == .sentAlong
    count += 1
    changes[stream].append(
      CountedChange(from: arrival, to: end, isMet: objective == .met, isFree: objective == .met && !isPushed))
  }
}
