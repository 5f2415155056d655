import Domain
import Planning
import Policies

/// Collects the streams of the measured instances by the rules of one policy, from registrations and events alone. The
/// streams do not depend on any planner's decisions.
struct StreamCollector {
  /// The streams of the measured instances, in the order of registration.
  private(set) var streams: [InstanceStream] = []
  /// The number of instances that a push can reach; more than `streams` if only some are measured.
  private(set) var instancesSeen = 0
  private let policy: Policy
  private let instancesMax: Int
  /// The entries of each interest key, in the order of registration. One entry is one interest of one instance.
  private var entries: [Identifier: [Int]] = [:]
  /// The place of each entry's stream.
  private var entryStreams: [Int] = []
  /// The place of each entry's kind in the policy.
  private var entryKinds: [Int] = []
  /// The fingerprint of the content that each entry's instance would display after a reload now; 0 before the first event.
  private var entryLooks: [KeyedHash] = []
  /// The newest known content of each subject, field by field, for the kinds that display the same fields.
  private var truths: [TruthKey: DisplayedTruth] = [:]
  /// The place of the first kind that displays the same fields as a kind, by the place of the latter.
  private let firstAlike: [Int]
  /// Whether a device has registered a kind, by its place in the policy. A planner keeps no states of other kinds.
  private var isRegistered: [Bool]
  /// The newest event of each subject and type. Older and repeated events are dropped, as planners drop them.
  private var newest: [Subject: NewestEvent] = [:]

  private struct Subject: Hashable {
    var subject: Identifier
    var type: Identifier
  }

  private struct TruthKey: Hashable {
    /// The place of the first of the kinds.
    var kind: Int
    var subject: Identifier
  }

  private struct NewestEvent {
    var time: Int64
    var id: Identifier
  }

  /// Prepares a collection.
  /// - Parameters:
  ///   - policy: The policy whose rules define the worth of a change.
  ///   - instancesMax: The largest number of instances to measure.
  init(policy: Policy, instancesMax: Int) {
    self.policy = policy
    self.instancesMax = instancesMax
    isRegistered = Array(repeating: false, count: policy.kinds.count)
    let shared = policy.kinds.map { KindDisplay.shared($0.displays, of: $0.name) }
    firstAlike = shared.enumerated().map { kind, own in shared.firstIndex(of: own) ?? kind }
  }

  /// Adds the instances of a device that a push can reach. Devices in developer mode are left out, because their reloads
  /// are free.
  mutating func register(_ registration: Registration) {
    if isRegistered.contains(false) { note(kindsOf: registration) }
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
          reach: reach(of: widget, policy.kinds[kind], in: registration, byWidgetPush: byWidgetPush)),
        kind: kind, interests: widget.interests)
    }
    // OS 18 is the first with control pushes, as in the planner.
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

  /// Returns the pushes that reload a widget. A background push for another widget of the kind reloads it, too.
  private func reach(
    of widget: Registration.Widget, _ kind: KindPolicy, in registration: Registration, byWidgetPush: Bool
  ) -> InstanceStream.Reach {
    if !byWidgetPush || !widget.pushEnabled { return .backgroundPush }
    if kind.surface == .background { return .both }
    let isNamedToo =
      registration.tokens.background != nil
      && registration.widgets.contains { $0.kind == widget.kind && !$0.pushEnabled }
    return isNamedToo ? .both : .widgetPush
  }

  private mutating func note(kindsOf registration: Registration) {
    var kinds = Set(registration.widgets.map(\.kind))
    kinds.formUnion(registration.controls.map(\.kind))
    kinds.formUnion(registration.activities.map(\.kind))
    kinds.formUnion(registration.pushToStart.map(\.kind))
    for (index, kind) in policy.kinds.enumerated() where kinds.contains(kind.name) { isRegistered[index] = true }
  }

  /// Adds one instance, unless `instancesMax` are measured already.
  private mutating func measure(_ given: InstanceStream, kind: Int, interests: [Identifier]) {
    instancesSeen += 1
    if streams.count >= instancesMax { return }
    var stream = given
    stream.screen = ScreenStream(measures: policy.kinds[kind].displays.map { FieldDistance($0) })
    streams.append(stream)
    for interest in interests {
      entries[interest, default: []].append(entryStreams.count)
      entryStreams.append(streams.count - 1)
      entryKinds.append(kind)
      entryLooks.append(.none)
    }
  }

  /// Adds an event to the stream of every instance that it reaches.
  /// - Parameters:
  ///   - event: The event.
  ///   - now: Log time, µs.
  mutating func add(_ event: DomainEvent, now: Int64) {
    let subject = Subject(subject: event.subject, type: event.type)
    if let known = newest[subject], event.time.microseconds < known.time || event.id == known.id { return }
    newest[subject] = NewestEvent(time: event.time.microseconds, id: event.id)
    // The states before the event, which several kinds may share.
    var before: [Int: DisplayedTruth?] = [:]
    for (index, kind) in policy.kinds.enumerated() {
      guard isRegistered[index], let rule = kind.rule(for: event) else { continue }
      var reached: Set<Int> = []
      let change = kind.displays.isEmpty ? nil : displayedChange(event, kind: index, &before, now: now)
      let displayed = change?.look
      // The pushes decide what the screen shows, so the state before the event stands for it.
      let stated = rule.relevance?.evaluate(event, shown: change?.before ?? [], change?.fields ?? [])
      let relevance = Float(stated ?? change?.difference ?? 0)
      let values = Self.values(event, kind.displays)
      let age = now &- event.time.microseconds
      let isTooOld = rule.maxAge.map { age > $0.microseconds } ?? false
      var expires = (Timestamp(microseconds: now) + kind.newsLife).microseconds
      if let maxAge = rule.maxAge { expires = min(expires, event.time.microseconds &+ maxAge.microseconds) }
      for template in rule.interests {
        guard let key = template.key(for: event), let listening = entries[key] else { continue }
        for entry in listening where entryKinds[entry] == index && reached.insert(entryStreams[entry]).inserted {
          let stream = entryStreams[entry]
          for value in values where change?.said.contains(value.place) ?? true {
            streams[stream].screen.add(value.value, of: value.place, subject: event.subject, at: now)
          }
          // An event that is too old is no news, but what it says is still true.
          if isTooOld { continue }
          // An event that carries nothing displayed can only be news.
          if values.isEmpty, rule.relevance != nil { streams[stream].screen.add(news: Double(relevance), at: now) }
          let look = displayed?.applied(to: entryLooks[entry])
          let isVisible = look == nil || entryLooks[entry] != look
          if let look { entryLooks[entry] = look }
          if isVisible, relevance > 0 {
            streams[stream].arrivals.append(
              Arrival(time: now, expires: max(expires, now &+ 1), relevance: relevance))
          }
        }
      }
    }
  }

  /// Returns the values of the displayed fields that an event carries.
  private static func values(_ event: DomainEvent, _ displays: [DisplayField]) -> [(place: Int, value: DisplayedValue)]
  {
    displays.enumerated().compactMap { place, field in
      event.value(at: field.path).map { (place, field.displayed($0)) }
    }
  }

  /// Returns the change of the content that a kind displays of the event's subject: its fingerprint before and after,
  /// how much both differ, 0…1, the values before, the displayed fields, and the places of those that the event has said.
  /// - Parameters:
  ///   - event: The event.
  ///   - kind: The place of the kind in the policy.
  ///   - earlier: The states of the subject before the event, by the place of the first kind that displays the same fields.
  ///   - now: Log time, µs.
  private mutating func displayedChange(
    _ event: DomainEvent, kind: Int, _ earlier: inout [Int: DisplayedTruth?], now: Int64
  ) -> (look: DisplayedChange, difference: Double, before: [DisplayedValue], fields: [FieldDistance], said: [Int]) {
    let key = TruthKey(kind: firstAlike[kind], subject: event.subject)
    let fields = policy.kinds[kind].displays.map { FieldDistance($0) }
    let known = earlier[key.kind] ?? truths[key]
    earlier[key.kind] = .some(known)
    let before = known?.fingerprint(subject: event.subject, fields: fields) ?? .none
    let state = known ?? DisplayedTruth(values: fields.map(\.initial))
    var truth = state
    let said = truth.take(event, fields: fields, now: Timestamp(microseconds: now))
    truths[key] = truth
    return (
      DisplayedChange(before: before, after: truth.fingerprint(subject: event.subject, fields: fields)),
      ScreenDistance.between(shown: state.values, truth: truth.values, fields), state.values, fields, said
    )
  }
}
