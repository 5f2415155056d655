import Auditing
import Domain
import Serving

/// The answer of the search box.
enum SearchPage {
  /// The longest text, in bytes of UTF-8. No id is longer.
  /// - Beyond: nothing can be found, and the page says so.
  private static let textMax = 1024

  /// Returns the page, or leads to the only thing with exactly this id.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let text = (request.query["q"] ?? "").trimmingSpaces
    guard !text.isEmpty, text.utf8.count <= textMax else {
      return try page(
        text, [PageSection(heading: "What can be found", paragraphs: [[hint]])]
      ).answer(request)
    }
    context.subject = text
    var found = try context.store().search(Identifier(text))
    let failure = addRegistered(Identifier(text), context, &found)
    if found.exact.count == 1, found.prefixed.isEmpty, let link = link(found.exact[0]) {
      return SignInPage.redirect(to: link)
    }
    var sections: [PageSection] = []
    if !found.exact.isEmpty { sections.append(section("Exactly this", "With this id", "exact", found.exact)) }
    if !found.prefixed.isEmpty {
      sections.append(
        section("Beginning with this", "Kinds, devices and events that begin with it", "beginning", found.prefixed))
    }
    if sections.isEmpty { sections = [PageSection(heading: "Nothing found", paragraphs: [[hint]])] }
    if let failure { sections[sections.count - 1].paragraphs.append([failure]) }
    if found.isBounded {
      sections[sections.count - 1].paragraphs.append(
        [
          "There may be more: beginnings are looked for among the newest decisions, and the first twenty of each sort are listed."
        ])
    }
    return try page(text, sections).answer(request)
  }

  /// Adds the device with an id if it is registered and the store has nothing about it.
  ///
  /// - Returns: The sentence that says why that is not known; nil if it is, or if the console does not know registrations at all.
  private static func addRegistered(
    _ id: Identifier, _ context: ConsoleContext, _ found: inout SearchFindings
  ) -> PageCell? {
    guard let devices = context.settings.devices, !found.exact.contains(.device(id)) else { return nil }
    do throws(ListeningDevicesError) {
      if try devices.find(id).registration != nil { found.exact.append(.device(id)) }
      return nil
    } catch {
      return PageCell("Whether a device with this id is registered is not known: \(error).", tone: .bad)
    }
  }

  private static let hint: PageCell =
    "Type the id of a device, event, push (c-…) or decision (d-…), the name of a kind, or the beginning of a device, event or kind. Letter case counts."

  private static func page(_ text: String, _ sections: [PageSection]) -> ConsolePage {
    ConsolePage(
      title: text.isEmpty ? "Search" : text, topic: text.isEmpty ? nil : "Search", sections: sections, search: text)
  }

  private static func section(
    _ heading: String, _ caption: String, _ name: String, _ found: [SearchFindings.FoundThing]
  ) -> PageSection {
    var table = PageTable(name: name, caption: caption, columns: ["Id", "What it is"], empty: "Nothing.")
    table.rows = found.map { finding in
      let (id, name) = words(finding)
      return [PageCell(id.text, link: link(finding)), PageCell(name)]
    }
    return PageSection(heading: heading, tables: [table])
  }

  private static func words(_ finding: SearchFindings.FoundThing) -> (Identifier, String) {
    switch finding {
    case .device(let id): (id, "device")
    case .event(let id): (id, "event")
    case .command(let id): (id, "push")
    case .decision(let id): (id, "decision")
    case .kind(let id): (id, "kind")
    }
  }

  private static func link(_ finding: SearchFindings.FoundThing) -> String? {
    switch finding {
    case .device(let id): PageLink.device(id)
    case .event(let id): PageLink.event(id)
    case .command(let id): PageLink.command(id)
    case .decision(let id): PageLink.decision(id)
    case .kind(let id): PageLink.to("/decisions", ["kind": id.text])
    }
  }
}

extension String {
  /// The text without spaces around it.
  fileprivate var trimmingSpaces: String {
    let start = drop { $0.isWhitespace }
    return String(start.reversed().drop { $0.isWhitespace }.reversed())
  }
}
