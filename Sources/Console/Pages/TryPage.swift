import Auditing
import Domain
import JSON
import Policies
import Serving

/// The page on which an event is tried on a policy: which rules match it, which fields they miss, which interest keys it has,
/// and how many devices listen to them.
/// Nothing is published.
enum TryPage {
  static let path = "/try"
  /// The most rules of a kind that are listed.
  private static let rulesMax = 50
  /// The id of the form with the event and the policy.
  private static let formId = "event-and-policy"

  private static let example = """
    {
      "specversion": "1.0",
      "id": "1",
      "source": "/me",
      "type": "flight.delay.changed",
      "subject": "flight/UA1545/2013-03-08",
      "data": { "delayMinutes": 45 }
    }
    """

  /// Returns the page before anything is tried: with an example, or with a template of the event that the address names. If the address has
  /// the event itself, it is tried on the policy in force.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let view = try context.clusterView()
    if let document = request.query["document"] {
      guard let policy = view?.policy else {
        var page = page([form(document, "")])
        page.lead.append(
          view == nil
            ? " The brokers are being asked for the policy in force."
            : " The policy in force is not known, or there is none: type one in.")
        page.refreshSeconds = view == nil ? ClusterView.retrySeconds : nil
        return try page.answer(request)
      }
      return try attempt(document, policy.text, inForce: policy, request, context)
    }
    var event = example
    if let id = request.query["event"] {
      context.note(["event": id])
      let kind = request.query["kind"].flatMap { view?.policy?.policy.kind(named: Identifier($0)) }
      event = template(of: id, kind)
    }
    var page = page([form(event, view?.policy?.text ?? "")])
    if request.query["event"] != nil {
      page.lead.append(
        " The store does not have the event itself: complete what the template lacks. Its type is that of the first rule of its kind."
      )
    }
    page.refreshSeconds = view == nil ? ClusterView.retrySeconds : nil
    return try page.answer(request)
  }

  /// Returns an event with an id whose other members are to be completed.
  ///
  /// - Parameters:
  ///   - id: The id.
  ///   - kind: A kind that the event concerned, whose rules and fields say how it may look; nil if none is known.
  private static func template(of id: String, _ kind: KindPolicy?) -> String {
    func quoted(_ text: String) -> String {
      var json = JSONWriter()
      json.string(text)
      return json.text
    }
    let type = kind?.rules.first?.event.text ?? ""
    var names: [String] = []
    let paths =
      (kind?.displays.map(\.path.text) ?? []) + (kind?.rules.flatMap { $0.conditions.map(\.field.text) } ?? [])
    for path in paths where path.hasPrefix("data.") {
      let name = String(path.dropFirst("data.".count).prefix { $0 != "." })
      if !names.contains(name) { names.append(name) }
    }
    let data = names.map { "\(quoted($0)): null" }.joined(separator: ", ")
    return """
      {
        "specversion": "1.0",
        "id": \(quoted(id)),
        "source": "",
        "type": \(quoted(type)),
        "subject": "",
        "data": { \(data) }
      }
      """
  }

  /// Tries an event.
  static func attempt(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let fields = try request.form()
    let inForce = try context.clusterView()?.policy
    // A dead letter is tried on the policy in force.
    return try attempt(
      fields["event"] ?? "", fields["policy"] ?? inForce?.text ?? "", inForce: inForce, request, context)
  }

  /// Tries an event on a policy.
  ///
  /// - Parameters:
  ///   - text: The event.
  ///   - policy: The policy, as a form has it.
  ///   - inForce: The policy in force; nil if it is not known.
  ///   - request: The request.
  ///   - context: The context of the reader.
  private static func attempt(
    _ text: String, _ policy: String, inForce: PolicyDocument?, _ request: ConsoleRequest, _ context: ConsoleContext
  ) throws -> HTTPAnswer {
    let yaml = policy.replacing("\r\n", with: "\n")
    let form = form(text, yaml)
    let event: DomainEvent
    do throws(DomainError) {
      event = try CloudEventDecoder().decode(
        CloudEventRecord(value: Array(text.utf8), timestamp: context.now()))
    } catch {
      let section = PageSection(
        heading: "Not accepted",
        paragraphs: [
          [PageCell("\(error)", tone: .bad)],
          [
            PageCell("Intake would make it a dead letter with the reason "), PageCell(error.code.rawValue, tone: .code),
            ".",
          ],
        ])
      return try page([section, form]).answer(request)
    }
    let policy: Policy
    do throws(PolicyError) {
      policy = try PolicyDocument(yaml: yaml, file: "policy.yaml").policy
    } catch {
      return try page([
        PageSection(heading: "The policy is not valid", list: error.problems.map { [PageCell("\($0)")] }), form,
      ])
      .answer(request)
    }
    let isInForce = policy.reference.hash == inForce?.policy.reference.hash
    let reach = EventReach(event, policy, context.settings.devices)
    let sections =
      [summary(event, policy, reach, address: isInForce ? address(of: text) : nil)]
      + policy.kinds.enumerated().map { section(event, $1, $0 + 1, reach) }
    return try page(sections + [form]).answer(request)
  }

  /// Returns the address at which an event is tried on the policy in force; nil if a sign-in would not lead to it.
  private static func address(of event: String) -> String? {
    let address = PageLink.to(path, ["document": event.replacing("\r\n", with: "\n")])
    return address.utf8.count <= SignInPage.addressBytesMax ? address : nil
  }

  private static func page(_ sections: [PageSection]) -> ConsolePage {
    ConsolePage(
      title: "Try an event", topic: "Policy", area: .policy, postedForm: formId,
      lead: [
        "Which rules match an event, which fields they miss, which interest keys it has, and how many devices listen to them. Nothing is published."
      ],
      sections: sections)
  }

  /// Returns the form that tries an event on a policy.
  static func form(_ event: String, _ policy: String) -> PageSection {
    PageSection(
      heading: "Event and policy",
      forms: [
        PageForm(
          id: formId, action: path, changes: true,
          fields: [
            .init(name: "event", label: "Event, CloudEvents in JSON", sort: .area, value: event, isNeeded: true),
            .init(
              name: "policy", label: "Policy, YAML", sort: .area, value: policy,
              hint: "The policy in force, as far as it is known.", isNeeded: true),
          ], button: "Try")
      ])
  }

  private static func summary(
    _ event: DomainEvent, _ policy: Policy, _ reach: EventReach, address: String?
  ) -> PageSection {
    let kinds = policy.kinds.filter { $0.rule(for: event) != nil }
    var fields = PageTable(
      name: "fields", caption: "Fields of the event", columns: ["Field", "Value"], empty: "The event has no data.")
    fields.rows = event.fields.map { [PageCell($0.path.text, tone: .code), PageCell(PolicyText.of($0.value))] }
    return PageSection(
      heading: kinds.isEmpty ? "No rule matches" : "Matched by \(Figure.count(kinds.count, "kind"))",
      paragraphs: [
        [
          PageCell(
            kinds.isEmpty
              ? "Every decision about this event would be NO_MATCH, or there would be none."
              : "\(kinds.map(\.name.text).joined(separator: ", ")): the devices that listen to one of the keys below are reached."
          )
        ]
      ] + (kinds.isEmpty ? [] : [reach.words])
        + (address.map {
          [
            [
              PageCell("The address of this attempt", link: $0),
              " tries the event on the policy that is in force then.",
            ]
          ]
        } ?? []),
      facts: [
        ("Type", [PageCell(event.type.text, tone: .code)]), ("Subject", [PageCell(event.subject.text, tone: .code)]),
        ("Time", [PageCell("\(PageTime().text(event.time)) UTC")]),
      ], tables: [fields])
  }

  private static func section(
    _ event: DomainEvent, _ kind: KindPolicy, _ number: Int, _ reach: EventReach
  ) -> PageSection {
    var section = PageSection(heading: kind.name.text)
    guard let index = kind.rules.firstIndex(where: { $0.matches(event) }) else {
      section.paragraphs = [["No rule matches."]]
      section.tables = [misses(event, kind.rules, number)]
      return section
    }
    let rule = kind.rules[index]
    section.paragraphs = [
      [
        PageCell("Rule \(index + 1) matches: ", tone: .good), PageCell(rule.event.text, tone: .code),
        PageCell(
          rule.relevance.map { "; as news its relevance is \(Figure.decimal($0.evaluate(event)))." }
            ?? "; it matters as much as it makes the screen wrong."),
      ]
    ]
    if let devices = reach.devices(of: kind.name) {
      section.paragraphs.append([
        PageCell(
          "\(Figure.count(devices, "device")) \(devices == 1 ? "has" : "have") an instance of this kind that listens to one of these keys."
        )
      ])
    }
    var keys = PageTable(
      name: "keys-\(number)", caption: "Interest keys", columns: ["Template", "Key"],
      empty: "The rule makes no key, so it reaches no one.")
    keys.rows = rule.interests.map { template in
      let key = template.key(for: event)
      return [
        PageCell(PolicyText.of(template), tone: .code),
        key.map { PageCell($0.text, tone: .code) }
          ?? PageCell("none: the event lacks \(missing(template, event))", tone: .bad),
      ]
    }
    section.tables = [keys]
    if !kind.displays.isEmpty {
      var displays = PageTable(
        name: "displays-\(number)", caption: "Displayed fields", columns: ["Field", "In the event"], empty: "None.")
      displays.rows = kind.displays.map { display in
        [
          PageCell(PolicyText.of(display), tone: .code),
          event.value(at: display.path).map { PageCell(PolicyText.of($0)) }
            ?? PageCell("not in the event", tone: .dim),
        ]
      }
      section.tables.append(displays)
    }
    if index > 0 { section.tables.append(misses(event, kind.rules.prefix(index), number)) }
    return section
  }

  /// Returns the reasons why rules do not match.
  private static func misses(_ event: DomainEvent, _ rules: some Sequence<Rule>, _ kind: Int) -> PageTable {
    var table = PageTable(
      name: "misses-\(kind)", caption: "Rules that do not match", columns: ["Rule", "Why not"],
      empty: "The kind has no rules.", shownMax: rulesMax)
    table.rows = rules.enumerated().map { number, rule in
      let failed = rule.conditions.first { !$0.holds(for: event) }
      let why =
        if !rule.matches(type: event.type) {
          PageCell("it is about another type")
        } else if let failed {
          PageCell(
            "the condition does not hold: \(PolicyText.of(failed)); the event has \(event.value(at: failed.field).map { PolicyText.of($0) } ?? "no such field")"
          )
        } else {
          PageCell("")
        }
      return [PageCell("\(number + 1): \(rule.event)", tone: .code), why]
    }
    return table
  }

  /// Returns the fields of a template that an event lacks.
  private static func missing(_ template: InterestTemplate, _ event: DomainEvent) -> String {
    let paths = template.parts.compactMap { part -> Identifier? in
      switch part {
      case .text: nil
      case .field(let path), .filtered(let path, _): path
      }
    }
    let lacking = paths.filter { InterestTemplate.text(of: $0, in: event) == nil }
    return lacking.isEmpty ? "a part that a filter takes" : lacking.map(\.text).joined(separator: ", ")
  }
}
