import Auditing
import Domain
import Serving

/// The page of a command: the push, what it served, and the decisions that name it.
enum CommandPage {
  /// The most decisions that a page lists.
  /// - Beyond: the others are not shown.
  private static let decisionsMax = 200

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let id = try request.id("command", context)
    let store = try context.store()
    let command = try store.command(id)
    let decisions = try store.decisions(ofCommand: id, limit: decisionsMax)
    guard command != nil || !decisions.isEmpty else {
      return try ConsolePage(
        title: id.text, topic: "Push", lead: ["The store has neither this push nor a decision that names it."],
        status: 404
      ).answer(request)
    }
    let device = command?.device ?? decisions.first?.device
    let time = try request.pageZone(device.flatMap { KnownRegistration($0, context.settings.devices).time })
    var sections: [PageSection] = []
    if let command {
      sections.append(push(command, time))
      sections.append(PageSection(heading: "Payload", text: command.apns.payload))
    }
    sections.append(PageSection(heading: "Decisions", tables: [table(decisions, time)]))
    var lead: [PageCell] = []
    if let command {
      lead = [
        PageCell("One \(command.surface.rawValue) push to "),
        PageCell(command.device.text, link: PageLink.device(command.device, time)),
        PageCell(" at \(time.full(command.at))."),
      ]
    }
    return try ConsolePage(title: id.text, topic: "Push", lead: lead, sections: sections).answer(request)
  }

  private static func push(_ command: Command, _ time: PageTime) -> PageSection {
    var serves = PageTable(
      name: "served", caption: "Served", columns: ["Instance", "Kind", "Reason", "Events"], empty: "No instance.")
    serves.rows = command.serves.map { served in
      [
        PageCell(
          served.instance.text,
          link: PageLink.why(device: command.device, event: served.events.last, instance: served.instance, time)),
        PageCell(served.kind.text), .reason(served.reason),
        PageCell(
          served.events.map(\.text).joined(separator: ", ")
            + (served.eventsLeftOut > 0 ? " and \(served.eventsLeftOut) more" : "")),
      ]
    }
    var charged = PageTable(
      name: "charged", caption: "Charged", columns: ["Ledger", "Owner", "#Left"], empty: "Free: no ledger was charged.")
    charged.rows = command.charged.map { [PageCell($0.ledger.rawValue), PageCell($0.owner.text), .number($0.left)] }
    return PageSection(
      heading: "Push",
      facts: [
        ("App", [PageCell(command.app.text)]), ("Environment", [PageCell(command.environment.rawValue)]),
        ("Worth sending until", [PageCell(time.full(command.expires))]),
        ("Policy", [PageCell(command.policy.version.text), " ", PageCell(command.policy.hash.text, tone: .dim)]),
      ] + command.apns.headers.map { ($0.name.text, [PageCell($0.value, tone: .code)]) }, tables: [serves, charged])
  }

  private static func table(_ decisions: [Decision], _ time: PageTime) -> PageTable {
    var table = PageTable(
      name: "decisions", caption: "Decisions that name this push",
      columns: ["Time, \(time.zone)", "Verdict", "Reason", "Instance", "Event"],
      empty: "None is stored.")
    table.rows = decisions.map { decision in
      [
        time.cell(
          decision.at,
          link: PageLink.why(device: decision.device, event: decision.event, instance: decision.instance, time)),
        .verdict(decision.verdict), .reason(decision.reason), PageCell(decision.instance.text),
        PageCell(decision.event.text, link: PageLink.event(decision.event)),
      ]
    }
    return table
  }
}
