import Auditing
import Domain
import Keys
import Logging
import Operating
import Policies
import Serving

/// The page of the policy: what is in force and where each value comes from, and a way to check, compare and apply another one.
struct PolicyPage {
  /// The most values that are listed.
  private static let rowsMax = 600
  /// The id of the form with the policy to check.
  private static let formId = "policy-form"
  /// The lines before and after a mistake that are shown with it.
  private static let contextLines = 2
  private static let area = ConsolePage.PageArea.policy

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let view = try context.clusterView()
    return try page(request, context, view, [form(view?.policy?.text ?? "")]).answer(request)
  }

  /// Checks a policy, and compares it with the one in force.
  static func check(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let form = try request.form()
    let text = (form["policy"] ?? "").replacing("\r\n", with: "\n")
    let view = try context.clusterView()
    let document: PolicyDocument
    do throws(PolicyError) {
      document = try PolicyDocument(yaml: text, file: "policy.yaml")
    } catch {
      var section = PageSection(heading: "Not valid")
      section.tables = [
        problems(error.problems, "mistakes", "Mistakes"), places(error.problems, in: text),
      ]
      return try page(request, context, view, [section, Self.form(text)]).answer(request)
    }
    return try page(request, context, view, checked(document, text, view, request.viewer) + [Self.form(text)])
      .answer(request)
  }

  /// Puts a policy into force.
  static func apply(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let form = try request.form()
    let text = (form["policy"] ?? "").replacing("\r\n", with: "\n")
    let document: PolicyDocument
    do throws(PolicyError) {
      document = try PolicyDocument(yaml: text, file: "policy.yaml")
    } catch {
      throw Problem(.malformedRequest, "the policy is not valid, so it was not applied; check it again")
    }
    do {
      try context.apply(document, by: request.viewer, if: form["replaces"].map { PolicyCondition(hash: $0) })
    } catch let problem as Problem where problem.kind == .preconditionFailed {
      let why = PageSection(
        heading: "Not applied",
        paragraphs: [[PageCell(ProblemPage.sentence(of: problem), tone: .bad)]])
      var page = ConsolePage(title: "Policy", area: area, postedForm: formId, sections: [why, Self.form(text)])
      page.status = problem.kind.status
      return try page.answer(request)
    }
    let reference = document.policy.reference
    let done = PageSection(
      heading: "Applied",
      paragraphs: [
        [
          PageCell(
            "\(reference.version) (\(reference.hash)) is in force from the next record of each log partition on.",
            tone: .good)
        ], [PageCell("What is in force", link: area.path), " is shown as soon as the brokers have told it."],
      ])
    // Without what was known before: that is the policy from before.
    return try ConsolePage(title: "Policy", area: area, sections: [done]).answer(request)
  }

  private static func page(
    _ request: ConsoleRequest, _ context: ConsoleContext, _ view: ClusterView?, _ sections: [PageSection]
  ) -> ConsolePage {
    var all = sections
    all[0].paragraphs.append([
      PageCell("Try an event", link: TryPage.path), " on a policy, or look at ",
      PageCell("a simulation", link: SimulationPage.path), ".",
    ])
    if let policies = view?.facts?.policies, !policies.isEmpty { all.append(partitions(policies)) }
    all.append(PolicyHistoryPage.section(context.policies))
    if let policy = view?.policy { all.append(values(policy)) }
    all.append(ClusterView.state(view, context.now()))
    let lead: PageCell
    if let policy = view?.policy?.policy {
      lead = PageCell(
        "In force: version \(policy.reference.version), hash \(policy.reference.hash), profile \(policy.profile.name), \(Figure.count(policy.kinds.count, "kind"))."
      )
    } else if view?.facts != nil {
      lead = "The log has no policy: every event is NO_MATCH until one is applied."
    } else {
      lead = "The policy in force is not known yet."
    }
    var page = ConsolePage(title: "Policy", area: .policy, postedForm: formId, lead: [lead], sections: all)
    let isWaiting = view == nil || PolicyHistoryPage.isWaiting(context.policies)
    page.refreshSeconds = isWaiting && request.head.method == "GET" ? ClusterView.retrySeconds : nil
    return page
  }

  /// Returns the form that checks a policy.
  ///
  /// - Parameter text: The policy.
  static func form(_ text: String) -> PageSection {
    PageSection(
      heading: "Check and compare",
      forms: [
        PageForm(
          id: formId, action: "/policy", changes: true,
          fields: [
            .init(
              name: "policy", label: "Policy, YAML", sort: .area, value: text,
              hint: "Nothing is applied: the check shows every mistake, and what would change.", isNeeded: true)
          ], button: "Check and compare")
      ])
  }

  private static func checked(
    _ document: PolicyDocument, _ text: String, _ view: ClusterView?, _ viewer: Viewer
  ) -> [PageSection] {
    let reference = document.policy.reference
    var section = PageSection(
      heading: "Valid",
      paragraphs: [[PageCell("Version \(reference.version), hash \(reference.hash).", tone: .good)]])
    if !document.warnings.isEmpty {
      section.tables += [problems(document.warnings, "warnings", "Warnings"), places(document.warnings, in: text)]
    }
    if let policy = view?.policy?.policy {
      let difference = PolicyDifference(from: policy, to: document.policy)
      section.tables.append(PolicyHistoryPage.changes(difference, "What would change", columns: ["In force", "New"]))
    } else {
      section.paragraphs.append(["The policy in force is not known, so nothing is compared."])
    }
    if viewer.may(.operator) {
      section.forms = [
        PageForm(
          action: "/policy/apply", changes: true,
          fields: [.init(name: "policy", label: "", sort: .hidden, value: text)] + replaced(view),
          button: "Apply \(reference.version)")
      ]
    } else {
      section.paragraphs.append(["A key with the role operator can apply it."])
    }
    return [section]
  }

  /// Returns the field with the policy that the new one was compared with, and that alone it may replace; none if that is not known.
  private static func replaced(_ view: ClusterView?) -> [PageForm.FormField] {
    guard view?.facts != nil else { return [] }
    let hash = view?.policy?.policy.reference.hash.text ?? ""
    return [.init(name: "replaces", label: "", sort: .hidden, value: hash)]
  }

  /// Returns the lines of a text that have mistakes, with those around them.
  ///
  /// - Parameters:
  ///   - problems: The mistakes.
  ///   - text: The policy, as it was sent.
  private static func places(_ problems: [PolicyProblem], in text: String) -> PageTable {
    var table = PageTable(
      name: "places", caption: "The mistakes in their places", columns: ["#Line", "Text", "Mistake"], empty: "None.",
      shownMax: rowsMax)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
    let found = Dictionary(grouping: problems) { min(max($0.line, 1), lines.count) }
    var last = 0
    for number in Set(found.keys.flatMap { max(1, $0 - contextLines)...min(lines.count, $0 + contextLines) }).sorted() {
      if number > last + 1, last > 0 { table.rows.append(["", PageCell("…", tone: .dim), ""]) }
      last = number
      let here = found[number] ?? []
      table.rows.append([
        .number(number), PageCell(String(lines[number - 1]), tone: .source),
        PageCell(
          here.map { "column \($0.column): \($0.message)" }.joined(separator: "; "),
          tone: here.contains { $0.severity == .error } ? .bad : nil),
      ])
    }
    return table
  }

  private static func problems(_ problems: [PolicyProblem], _ name: String, _ caption: String) -> PageTable {
    var table = PageTable(
      name: name, caption: caption, columns: ["Place", "Value", "Message"], empty: "None.",
      shownMax: rowsMax)
    table.rows = problems.map { problem in
      [
        PageCell("line \(problem.line), column \(problem.column)", tone: problem.severity == .error ? .bad : nil),
        PageCell(problem.path, tone: .code), PageCell(problem.message),
      ]
    }
    return table
  }

  private static func partitions(_ policies: [Int32: ClusterFacts.LoggedPolicy]) -> PageSection {
    var table = PageTable(
      name: "partitions", caption: "The newest policy of each log partition",
      columns: ["Partition", "#Offset", "Version", "Hash"],
      empty: "None.", csv: PageLink.to("/v1/policies/active", ["format": "csv"]))
    table.rows = policies.sorted { $0.key < $1.key }.map { partition, policy in
      [
        PageCell("\(partition)"), .number(Int(policy.offset)),
        policy.reference.map { PageCell($0.version.text) } ?? PageCell("not accepted by this release", tone: .bad),
        PageCell(policy.reference?.hash.text ?? ""),
      ]
    }
    let differ = Set(policies.values.map(\.reference)).count > 1
    return PageSection(
      heading: "Where it is in force",
      paragraphs: differ ? [[PageCell("The partitions differ: put one policy into all of them.", tone: .bad)]] : [],
      tables: [table])
  }

  private static func values(_ document: PolicyDocument) -> PageSection {
    var table = PageTable(
      name: "values", caption: "Each value with its origin", columns: ["Value", "In force", "Origin"], empty: "None.",
      csv: PageLink.to("/v1/policies/active/values", ["format": "csv"]), shownMax: rowsMax)
    table.rows = PolicyExplanation(document).lines.map { line in
      [
        PageCell(line.path, tone: .code), PageCell(PolicyText.of(line.value)),
        PageCell(PolicyExplanation.words(line.origin)),
      ]
    }
    return PageSection(heading: "In force", tables: [table])
  }
}
