import Domain
import Planning
import Policies

/// What came to one measured instance: the changes that it could show, in the order of the log.
struct InstanceStream: Sendable {
  let device: String
  let app: String
  let instance: String
  let kind: String
  let zone: String
  let reach: Reach
  /// Visible changes only: what looks like the change before it is not one.
  var arrivals: [Arrival] = []

  /// Which pushes reload it.
  enum Reach: Sendable {
    /// A widget push, with all others of its device that one reaches.
    case widgetPush
    /// A background push that names its kind.
    case backgroundPush
    /// A background push that names its kind, and every widget push that others cause.
    case both
    /// Its own token.
    case control
  }
}

/// Works out what comes to the measured instances: by the rules of the policy that measures, from the registrations and
/// the events alone, whatever any planner did about them.
struct StreamCollector {
  private(set) var streams: [InstanceStream] = []
  /// Instances that could be reached by a push; more than `streams` where only some are measured.
  private(set) var instancesSeen = 0
  private let policy: Policy
  private let instancesMax: Int
  /// Entries by interest key, in the order of registration.
  private var entries: [String: [Int]] = [:]
  private var entryStreams: [Int] = []
  private var entryKinds: [Int] = []
  /// What an entry's newest event looks like; 0: nothing yet.
  private var entryLooks: [UInt64] = []
  /// By subject and type.
  private var newest: [Subject: Newest] = [:]

  private struct Subject: Hashable {
    var subject: String
    var type: String
  }

  private struct Newest {
    var time: Int64
    var id: String
  }

  init(policy: Policy, instancesMax: Int) {
    self.policy = policy
    self.instancesMax = instancesMax
  }

  /// Measures the instances of a device that a push can reach. Devices in developer mode are not measured: their reloads
  /// are free.
  mutating func register(_ registration: Registration) {
    if registration.developerMode { return }
    let byWidgetPush = registration.tokens.widgets != nil && registration.osVersion.major >= 26
    for widget in registration.widgets {
      guard let kind = policy.kinds.firstIndex(where: { $0.name == widget.kind && $0.enabled }),
        byWidgetPush && widget.pushEnabled || registration.tokens.background != nil
      else { continue }
      measure(
        InstanceStream(
          device: registration.device, app: registration.app, instance: widget.id, kind: widget.kind,
          zone: registration.timeZone,
          reach: !byWidgetPush || !widget.pushEnabled
            ? .backgroundPush : policy.kinds[kind].surface == .background ? .both : .widgetPush),
        kind: kind, interests: widget.interests)
    }
    // The first system with control pushes, as in the planner.
    guard registration.osVersion.major >= 18 else { return }
    for control in registration.controls {
      guard let kind = policy.kinds.firstIndex(where: { $0.name == control.kind && $0.enabled }) else { continue }
      measure(
        InstanceStream(
          device: registration.device, app: registration.app, instance: control.id, kind: control.kind,
          zone: registration.timeZone,
          reach: .control),
        kind: kind, interests: control.interests)
    }
  }

  private mutating func measure(_ stream: InstanceStream, kind: Int, interests: [String]) {
    instancesSeen += 1
    if streams.count >= instancesMax { return }
    streams.append(stream)
    for interest in interests {
      entries[interest, default: []].append(entryStreams.count)
      entryStreams.append(streams.count - 1)
      entryKinds.append(kind)
      entryLooks.append(0)
    }
  }

  /// Adds the event to every instance that it reaches, at log time `now`.
  mutating func add(_ event: DomainEvent, now: Int64) {
    let subject = Subject(subject: event.subject, type: event.type)
    if let known = newest[subject], event.time.microseconds < known.time || event.id == known.id { return }
    newest[subject] = Newest(time: event.time.microseconds, id: event.id)
    for (index, kind) in policy.kinds.enumerated() {
      guard let rule = kind.rule(forType: event.type) else { continue }
      var reached: Set<Int> = []
      let relevance = Float(rule.relevance.evaluate(event))
      let look = kind.displays.isEmpty ? 0 : Fingerprint.of(event, displays: kind.displays)
      let age = now &- event.time.microseconds
      if let maxAge = rule.maxAge, age > maxAge.microseconds { continue }
      var expires = now &+ Int64(Double(kind.halfLife.microseconds) * kind.expireAfterHalfLives)
      if let maxAge = rule.maxAge { expires = min(expires, event.time.microseconds &+ maxAge.microseconds) }
      for template in rule.interests {
        guard let key = template.key(for: event), let listening = entries[key] else { continue }
        for entry in listening where entryKinds[entry] == index && reached.insert(entryStreams[entry]).inserted {
          let isVisible = kind.displays.isEmpty || entryLooks[entry] != look
          entryLooks[entry] = look
          if isVisible, relevance > 0 {
            streams[entryStreams[entry]].arrivals.append(
              Arrival(time: now, expires: max(expires, now &+ 1), relevance: relevance))
          }
        }
      }
    }
  }
}
