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
  let device: Identifier
  /// The counts of all decisions in the range of the page, by instance.
  let counts: [DeviceTimeline.InstanceCounts]
  /// The charges of the range, which tell what is left of an instance's tokens also when another instance's event brought the push.
  let accounts: [BudgetStatement.Account]
  /// The range of the page.
  let range: TimeRange
  /// Writes the times.
  let time: PageTime

  private typealias BriefDecision = DeviceTimeline.InstanceCounts.BriefDecision

  /// An instance as it is registered.
  private struct ShownInstance {
    var id: Identifier
    var kind: Identifier
    var surface: String
    var interests: [Identifier]
    var token: PageCell
  }

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
    let last = counts.filter { surfaces.contains($0.last.surface) }.compactMap(\.lastOfToken).max { $0.at < $1.at }
    return dead(last, registration) ?? Self.present
  }

  /// Returns the words for a token that APNs has refused; nil if the last decision does not say so, or if the device was registered since.
  private func dead(_ last: BriefDecision?, _ registration: Registration) -> PageCell? {
    guard let last, last.reason == .tokenDead, registration.updatedAt <= last.at else { return nil }
    return PageCell("dead, at \(time.full(last.at))", tone: .bad)
  }

  private var table: PageTable {
    let instances = registered.registration.map { shown($0) } ?? []
    let records = Dictionary(counts.map { ($0.instance, $0) }) { first, _ in first }
    let unregistered = counts.filter { count in !instances.contains { $0.id == count.instance } }
    let isKnown = registered.registration != nil
    var table = PageTable(
      name: "instances",
      caption: isKnown
        ? "Registered instances, and others with a decision in this range" : "Instances with a decision in this range",
      columns: ["Instance", "Kind", "Surface"] + (isKnown ? ["Token", "Interests"] : [])
        + ["#Decisions", "#Shown", "Last reason", "#Tokens left, last known"],
      empty: isKnown
        ? "The device shows nothing, and there is no decision in this range." : "No decision in this range.")
    for instance in instances {
      let record = records[instance.id]
      var token = instance.token
      if token.tone == .good, let registration = registered.registration {
        token = dead(record?.lastOfToken, registration) ?? token
      }
      table.rows.append(
        [
          PageCell(instance.id.text, link: PageLink.why(device: device, instance: instance.id, time)),
          PageCell(instance.kind.text), PageCell(instance.surface), token, interests(instance.interests),
        ] + numbers(record))
    }
    for record in unregistered {
      let token = isKnown ? [PageCell("not registered", tone: .dim), ""] : []
      table.rows.append(
        [
          PageCell(record.instance.text, link: PageLink.why(device: device, instance: record.instance, time)),
          PageCell(record.last.kind.text), PageCell(record.last.surface.rawValue),
        ] + token + numbers(record))
    }
    return table
  }

  private func numbers(_ record: DeviceTimeline.InstanceCounts?) -> [PageCell] {
    guard let record else {
      return [.number(0), .number(0), PageCell("–", tone: .dim), PageCell("–", isNumber: true)]
    }
    let link = PageLink.to(
      "/decisions",
      [
        "device": device.text, "instance": record.instance.text, "from": range.from.map(Figure.time),
        "to": range.to.map(Figure.time),
      ])
    return [
      .number(record.decisions, link: link), .number(record.shown), .reason(record.last.reason),
      tokensLeft(record),
    ]
  }

  /// Returns the tokens that an instance had left when it was last decided about or charged, whichever was later.
  private func tokensLeft(_ record: DeviceTimeline.InstanceCounts) -> PageCell {
    let charge = accounts.first { $0.ledger == .instance && $0.owner == record.instance }?.lines.last
    let isCharged = charge.map { $0.at >= record.last.at } ?? false
    guard let left = isCharged ? charge?.left : record.last.tokensLeft, let at = isCharged ? charge?.at : record.last.at
    else { return PageCell("–", isNumber: true) }
    return PageCell("\(left)", detail: "at \(time.text(at))", isNumber: true)
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
