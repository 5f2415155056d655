import Auditing
import Domain

/// The part of a device's page about what is on it: the registration, and what was decided about each instance.
struct DeviceInstances {
  /// The most interest keys of an instance that are shown. The CSV has them all.
  private static let keysMax = 4
  /// The words for a token that is there.
  private static let present = PageCell("present", tone: .good)

  /// The registration, as far as it is known.
  let registered: KnownRegistration
  /// The device.
  let device: Identifier
  /// The decisions of the page, oldest first, with the pushes between them.
  let entries: [AuditEntry]
  /// Writes the times.
  let time: PageTime

  /// The decisions about an instance.
  private struct InstanceDecisions {
    var last: Decision?
    var all = 0
    var sent = 0
  }

  /// An instance as it is registered.
  private struct ShownInstance {
    var id: Identifier
    var kind: Identifier
    var surface: String
    var interests: [Identifier]
    var token: PageCell
  }

  /// The section.
  var section: PageSection {
    var section = PageSection(heading: "On the device", paragraphs: [registered.words])
    if let registration = registered.registration { section.facts = facts(registration) }
    section.tables = [table]
    return section
  }

  private func facts(_ registration: Registration) -> [(name: String, value: [PageCell])] {
    [
      ("App", [PageCell("\(registration.app), \(registration.environment.rawValue)")]),
      ("System", [PageCell("\(registration.platform) \(registration.osVersion)")]),
      (
        "Time zone",
        [
          PageCell(
            registration.timeZone + (time.zone == registration.timeZone ? "" : ", times are in \(time.zone)"))
        ]
      ),
      ("Registered", [PageCell(time.full(registration.updatedAt))]),
      ("Widget token", [state(registration.tokens.widgets, registration, [.widget])]),
      ("Background token", [state(registration.tokens.background, registration, [.background])]),
      ("Developer mode", [PageCell(registration.developerMode ? "on: nothing is charged" : "off")]),
    ]
  }

  /// Returns the state of a token of the whole device: dead if the last push of these surfaces was not made because of it.
  private func state(_ token: String?, _ registration: Registration, _ surfaces: Set<Surface>) -> PageCell {
    guard token != nil else { return PageCell("absent", tone: .dim) }
    let last = entries.reversed().lazy.compactMap { entry -> Decision? in
      guard case .decision(let decision) = entry, surfaces.contains(decision.surface) else { return nil }
      return decision
    }.first { [.emit, .coalesce].contains($0.verdict) || $0.reason == .tokenDead }
    return dead(last, registration) ?? Self.present
  }

  /// Returns the words for a token that APNs has refused; nil if the last decision does not say so, or if the device was registered since.
  private func dead(_ last: Decision?, _ registration: Registration) -> PageCell? {
    guard let last, last.reason == .tokenDead, registration.updatedAt <= last.at else { return nil }
    return PageCell("dead, at \(time.full(last.at))", tone: .bad)
  }

  private var table: PageTable {
    var records: [Identifier: InstanceDecisions] = [:]
    var unregistered: [Identifier] = []
    let instances = registered.registration.map { shown($0) } ?? []
    for case .decision(let decision) in entries {
      records[decision.instance, default: InstanceDecisions()].last = decision
      records[decision.instance, default: InstanceDecisions()].all += 1
      if [.emit, .coalesce].contains(decision.verdict) { records[decision.instance]?.sent += 1 }
    }
    unregistered = records.keys.filter { id in !instances.contains { $0.id == id } }.sorted()
    let isKnown = registered.registration != nil
    var table = PageTable(
      name: "instances",
      caption: isKnown
        ? "Registered instances, and others with a decision in this range" : "Instances with a decision in this range",
      columns: ["Instance", "Kind", "Surface"] + (isKnown ? ["Token", "Interests"] : [])
        + ["#Decisions", "#Shown", "Last reason", "#Tokens left"],
      empty: isKnown
        ? "The device shows nothing, and there is no decision in this range." : "No decision in this range.")
    for instance in instances {
      let record = records[instance.id] ?? InstanceDecisions()
      var token = instance.token
      if token.tone == .good, let registration = registered.registration {
        token = dead(record.last, registration) ?? token
      }
      table.rows.append(
        [
          PageCell(instance.id.text, link: PageLink.why(device: device, instance: instance.id, time)),
          PageCell(instance.kind.text), PageCell(instance.surface), token, interests(instance.interests),
        ] + numbers(record))
    }
    for id in unregistered {
      guard let record = records[id], let last = record.last else { continue }
      let token = isKnown ? [PageCell("not registered", tone: .dim), ""] : []
      table.rows.append(
        [
          PageCell(id.text, link: PageLink.why(device: device, instance: id, time)), PageCell(last.kind.text),
          PageCell(last.surface.rawValue),
        ] + token + numbers(record))
    }
    return table
  }

  private func numbers(_ record: InstanceDecisions) -> [PageCell] {
    [
      .number(record.all), .number(record.sent), record.last.map { .reason($0.reason) } ?? PageCell("–", tone: .dim),
      PageCell(record.last?.tokensLeft.instance.map(String.init) ?? "–", isNumber: true),
    ]
  }

  private func interests(_ keys: [Identifier]) -> PageCell {
    let rest = keys.count - Self.keysMax
    var cell = PageCell(
      keys.prefix(Self.keysMax).map(\.text).joined(separator: ", "), detail: rest > 0 ? "and \(rest) more" : nil)
    cell.figure = .text(keys.map(\.text).joined(separator: " "))
    return cell
  }

  private func shown(_ registration: Registration) -> [ShownInstance] {
    let canPush = registration.tokens.widgets != nil || registration.tokens.background != nil
    let absent = PageCell("absent", tone: .bad)
    return registration.widgets.map { widget in
      ShownInstance(
        id: widget.id, kind: widget.kind, surface: widget.family.map { "widget, \($0)" } ?? "widget",
        interests: widget.interests,
        token: !canPush
          ? absent
          : widget.pushEnabled ? Self.present : PageCell("no pushes wanted", tone: .dim))
    }
      + registration.controls.map {
        ShownInstance(id: $0.id, kind: $0.kind, surface: "control", interests: $0.interests, token: Self.present)
      }
      + registration.activities.map { activity in
        let token =
          switch activity.address {
          case .token: Self.present
          case .channel(let channel): PageCell("channel \(channel)")
          }
        return ShownInstance(
          id: activity.id, kind: activity.kind, surface: "liveActivity", interests: activity.interests, token: token)
      }
      + registration.pushToStart.map {
        ShownInstance(
          id: Registration.starterID(kind: $0.kind), kind: $0.kind, surface: "liveActivity, to start",
          interests: $0.interests, token: Self.present)
      }
  }
}
