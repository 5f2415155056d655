public import Domain

/// A Live Activity that runs and that nobody can update or end any more.
public struct Zombie: Hashable, Sendable {
  public enum Cause: String, Sendable, CaseIterable {
    /// Started by push; half an hour later the device has registered no activity for it.
    case neverRegistered
    /// Registered, but APNs has refused its token for good.
    case tokenRejected
  }

  public var device: String
  /// What it is about: the subject that was started, or the first interest key of the activity. Empty where an older
  /// release started it.
  public var subject: String
  public var kind: String
  /// When it was started.
  public var since: Timestamp
  public var cause: Cause
}

extension Planner {
  /// The activities that run and that nobody can update or end, in the order of slots. What is older than the eight hours
  /// of an activity's life is not one: the system has ended it. Looks at every instance that has an address of its own.
  public func zombies() -> [Zombie] {
    var found: [Zombie] = []
    for instance in addressed.keys.sorted() {
      switch instances[instance].surface {
      case .starter: addUnregistered(instance, to: &found)
      case .activity: addRejected(instance, to: &found)
      case .widget, .control: continue
      }
    }
    return found
  }

  private func addUnregistered(_ starter: UInt32, to found: inout [Zombie]) {
    let device = instances[starter].device
    for start in addressed[starter]?.started ?? []
    where !start.isRegistered && isRunning(since: start.at) && now &- start.at > Self.activityLife / 16
      && newestActivity(of: instances[starter].kind, on: device) < start.at
    {
      found.append(
        Zombie(
          device: deviceID(device), subject: start.name, kind: kinds[Int(instances[starter].kind)].name,
          since: Timestamp(microseconds: start.at), cause: .neverRegistered))
    }
  }

  private func addRejected(_ activity: UInt32, to found: inout [Zombie]) {
    guard let state = addressed[activity], state.tokenDead, !state.ended, isRunning(since: state.startedAt),
      !instances[activity].flags.contains(.retired)
    else { return }
    let entry = instances[activity].firstEntry
    found.append(
      Zombie(
        device: deviceID(instances[activity].device),
        subject: entry == none ? "" : texts.string(interests.key(of: entries[entry].interest)),
        kind: kinds[Int(instances[activity].kind)].name, since: Timestamp(microseconds: state.startedAt),
        cause: .tokenRejected))
  }

  private func isRunning(since start: Int64) -> Bool { now &- start < Self.activityLife }

  /// When the newest activity of a kind on a device began.
  private func newestActivity(of kind: UInt16, on device: UInt32) -> Int64 {
    var newest = Int64.min
    var instance = devices[device].firstInstance
    while instance != none {
      if instances[instance].surface == .activity, instances[instance].kind == kind {
        newest = max(newest, addressed[instance]?.startedAt ?? .min)
      }
      instance = instances[instance].next
    }
    return newest
  }
}
