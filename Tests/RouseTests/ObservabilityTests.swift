import Console
import DeviceView
import Foundation
import Gateway
import JSON
import Keys
import Observing
import Pipeline
import Testing

@testable import rouse

@Suite("Alert rules, dashboard and runbook") struct ObservabilityTests {
  private static let runbook = "\(DocumentationPage.catalog)/Runbook.md"

  /// The metrics that a process exposes, by name.
  static let metrics: [String: MetricDescription] = {
    let registry = PipelineCounters().registry
    ProcessMetrics.add(to: registry)
    _ = GatewayMetrics(registry)
    _ = DeviceViewMetrics(registry)
    _ = ConsoleMetrics(registry)
    _ = TokenMetrics(registry)
    return Dictionary(uniqueKeysWithValues: registry.descriptions.map { ($0.name, $0) })
  }()

  @Test("each alert says what is lost and what to do, how urgent it is, and leads to its chapter of the runbook")
  func annotations() throws {
    let rules = try AlertRules.rules().filter { $0.alert != nil }
    #expect(rules.count > 20)
    for rule in rules {
      let name = try #require(rule.alert)
      #expect(name.hasPrefix("Rouse"))
      #expect(["critical", "warning"].contains(rule.labels?["severity"]), "\(name)")
      let (summary, text) = (rule.annotations?["summary"] ?? "", rule.annotations?["description"] ?? "")
      #expect(!summary.isEmpty && !summary.hasSuffix(".") && text.hasSuffix("."), "\(name)")
      #expect(rule.annotations?["runbook_url"] == "\(Self.runbook)#\(name.lowercased())")
    }
  }

  @Test("the runbook has a chapter for each alert, in the order of the rules, with the same four parts")
  func chapters() throws {
    let lines = try DocumentationPage(path: Self.runbook).lines.prefix { $0 != "# rouse doctor" }
    let headings = lines.filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) }
    #expect(headings == (try AlertRules.rules().compactMap(\.alert)))
    let parts = lines.compactMap { $0.prefixMatch(of: /- \*\*([A-Za-z ]+)\*\*: [a-zA-Z`]/).map { String($0.1) } }
    #expect(
      parts
        == Array(repeating: ["What happened", "What is lost", "Look first", "Do"], count: headings.count).flatMap(
          \.self))
  }

  @Test(
    "a counter whose increase raises an alarm has its series from the start, so that the first failure is an increase")
  func seeded() throws {
    let registry = PipelineCounters().registry
    ProcessMetrics.add(to: registry)
    _ = (GatewayMetrics(registry), DeviceViewMetrics(registry), ConsoleMetrics(registry), TokenMetrics(registry))
    let lines = String(decoding: Exposition.bytes(of: registry, as: .prometheus), as: UTF8.self).split(separator: "\n")
      .map(String.init)
    var (count, found) = (0, 0)
    for rule in try AlertRules.rules() where rule.alert != nil {
      found += rule.expr.matches(of: /increase\(rouse/).count
      for match in rule.expr.matches(of: /increase\((rouse_[a-z_]+)(?:\{([a-z]+)=(~?)"([^"]+)"\})?\[/) {
        // How many events there were is no failure, and a kind is known only from the policy.
        let name = String(match.1)
        found -= 1
        if ["rouse_events_accepted_total", "rouse_objective_changes_total"].contains(name) { continue }
        count += 1
        let values = match.4.map { $0.split(separator: "|").map(String.init) } ?? [""]
        for value in values {
          let label = value.isEmpty ? "" : "\(match.2 ?? "")=\"\(value)\""
          let isThere = lines.contains { line in
            line.hasPrefix(name) && "{ ".contains(line.dropFirst(name.count).first ?? "x")
              && (label.isEmpty || line.contains(label))
              && line.hasSuffix(" 0")
          }
          #expect(
            isThere, "\(rule.alert ?? ""): \(name) \(label) has no series at the start")
        }
      }
    }
    #expect(count > 10 && found == 0, "\(found) selectors were not understood")
  }

  @Test("each alert has a test of promtool, and each test an alert")
  func tests() throws {
    #expect(Set(try AlertRules.rules().compactMap(\.alert)) == (try AlertRules.testNames()))
  }

  @Test("rules ask only for metrics and labels that a process exposes")
  func rules() throws {
    let rules = try AlertRules.rules()
    let recorded = Set(rules.compactMap(\.record))
    for rule in rules { Self.check(rule.expr, of: rule.alert ?? rule.record ?? "", recorded: recorded) }
  }

  @Test(
    "each panel of the dashboard has a title of its own, a unit, a description, and queries for metrics that are there")
  func dashboard() throws {
    guard case .array(let panels) = try JSONValue(parsing: AlertRules.text("dashboard.json"))["panels"] else {
      return #expect(Bool(false), "the dashboard has no panels")
    }
    let recorded = Set(try AlertRules.rules().compactMap(\.record))
    let rows = panels.filter { $0["type"] == .string("row") }.compactMap { $0["title"]?.plainText }
    #expect(rows == ["Overview", "Budgets", "Staleness", "Pipeline", "Audit", "Gateway", "Console"])
    var (titles, numbers): (Set<String>, Set<String>) = ([], [])
    for panel in panels {
      let title = panel["title"]?.plainText ?? ""
      #expect(titles.insert(title).inserted && !title.isEmpty && !title.hasSuffix("."))
      #expect(numbers.insert("\(String(describing: panel["id"]))").inserted, "\(title) has the id of another panel")
      guard panel["type"] != .string("row") else { continue }
      #expect(panel["description"]?.plainText?.hasSuffix(".") == true, "\(title)")
      #expect(panel["fieldConfig"]?["defaults"]?["unit"]?.plainText?.isEmpty == false, "\(title)")
      guard case .array(let targets) = panel["targets"] else { continue }
      #expect(!targets.isEmpty)
      for query in targets.compactMap({ $0["expr"]?.plainText }) { Self.check(query, of: title, recorded: recorded) }
    }
  }

  /// Checks the names of metrics and labels in a query.
  static func check(_ query: String, of place: String, recorded: Set<String>) {
    var labels: Set = ["job", "instance", "le", "alertstate"]
    for match in query.matches(of: /\b(?:rouse|process)_[a-z0-9_]+(?::[a-z0-9_:]+)?/) {
      let name = String(match.0)
      if recorded.contains(name) { continue }
      let plain = name.replacing(/_(bucket|sum|count)$/, with: "")
      let metric = metrics[name] ?? metrics[plain].flatMap { if case .histogram = $0.kind { $0 } else { nil } }
      #expect(metric != nil, "\(place): no process exposes \(name)")
      labels.formUnion(metric?.labels.map(\.name) ?? [])
    }
    let lists = query.matches(of: /\b(?:by|on|ignoring|group_left) \(([a-z, ]*)\)/).flatMap {
      $0.1.split(separator: ", ").map(String.init)
    }
    let matchers = query.matches(of: /[{,] *([a-z]+) *(?:=|!=|=~)"/).map { String($0.1) }
    for label in lists + matchers {
      #expect(
        labels.contains(label) || !recorded.isEmpty && label == "kind", "\(place): none of its metrics has \(label)")
    }
  }

  @Test("pages name only metrics that a process exposes", arguments: DocumentationPage.paths)
  func pages(_ path: String) throws {
    let names = Self.metrics.values.flatMap { [$0.name, "\($0.name)_bucket", "\($0.name)_sum", "\($0.name)_count"] }
    let recorded = try AlertRules.rules().compactMap(\.record)
    for line in try DocumentationPage(path: path).lines {
      for match in line.matches(of: /\b(?:rouse|process)_[a-z]+_[a-z0-9_]+(?::[a-z0-9_:]+)?/) {
        let name = String(match.0)
        #expect((names + recorded).contains(name), "\(path) names \(name), which no process exposes")
      }
    }
  }
}

extension JSONValue {
  /// A text; nil for anything else.
  fileprivate var plainText: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}
