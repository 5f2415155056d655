import Foundation
import JSON
import Testing

@Suite("Dashboard", .enabled(if: Tool.prometheus != nil, "\(Tool.reason)")) struct DashboardTests {
  /// A query of a panel.
  private struct Query: Hashable {
    var panel: String
    var expression: String
  }

  /// Panels that stay empty in a demo, and why. Prometheus must still accept their queries.
  private static let empty = [
    "Push to fetch": "the devices of the demo send no rouse.signal.widget.fetched",
    "Spans lost": "the demo exports no traces",
    "Free disk": "only rouse run shows the room of its folders; those of the demo are temporary",
    "Size of the store": "only rouse run shows the room of its folders; those of the demo are temporary",
    "Requests by status": "the demo has no gateway",
    "Records by outcome": "the demo has no gateway",
    "Request to acknowledgement": "the demo has no gateway",
    "Refusals for keys": "the demo has no gateway",
    "Age of the view of devices": "the demo has no gateway",
    "Records left for the view of devices": "the demo has no gateway",
    "Certificates of gateways": "the demo has no gateway",
    "Certificates of consoles": "the console of the demo has no TLS",
    "Age of the newest snapshot": "the demo writes no snapshots",
    "Time of a snapshot": "the demo writes no snapshots",
    "Refused attempts": "the console of the demo has no keys",
  ]

  private func queries() throws -> Set<Query> {
    let file = Tool.observability.appending(path: "dashboard.json")
    guard case .array(let panels) = try JSONValue(parsing: String(contentsOf: file, encoding: .utf8))["panels"] else {
      return []
    }
    var queries: Set<Query> = []
    for panel in panels {
      guard case .string(let title) = panel["title"], case .array(let targets) = panel["targets"] else { continue }
      for case .string(let expression) in targets.compactMap({ $0["expr"] }) {
        queries.insert(Query(panel: title, expression: expression))
      }
    }
    return queries
  }

  /// Returns a query with the values of Grafana's variables, on the scale of the demo.
  private static func expression(_ query: Query) -> String {
    query.expression.replacing("$__rate_interval", with: "10s").replacing("$job", with: ".+")
      .replacing("[1d]", with: "[1m]").replacing("[1h]", with: "[1m]")
  }

  @Test("each query of each panel is accepted by Prometheus, and returns data of a demo that runs")
  func data() throws {
    let folder = try TemporaryFolder()
    let demo = try Program(Tool.rouse, ["demo", "--devices", "2000"], in: folder.url)
    let address = try demo.waitFor(/metrics +http:\/\/(127\.0\.0\.1:\d+)\/metrics/)
    // The lines of the addresses are written together.
    let console = try demo.waitFor(/console +http:\/\/(127\.0\.0\.1:\d+)\//)
    let looks = try ["/v1/summary", "/v1/decisions?limit=1"].map { try #require(URL(string: "http://\(console)\($0)")) }
    let rules = try ScaledRules(dividedBy: 60).text
    let prometheus = try PrometheusServer([address], rules: rules, in: folder, try #require(Tool.prometheus))
    let all = try queries()
    #expect(Set(all.map(\.panel)).isSuperset(of: Self.empty.keys), "an exception names no panel")
    for query in all where Self.empty[query.panel] != nil { _ = try prometheus.query(Self.expression(query)) }
    let filled = all.filter { Self.empty[$0.panel] == nil }
    try #require(filled.count > 40)
    var empty = filled
    while demo.isRunning, !empty.isEmpty {
      for look in looks { _ = try? Data(contentsOf: look) }
      for query in empty {
        if try prometheus.query(Self.expression(query)).contains(where: { !$0.value.isNaN }) { empty.remove(query) }
      }
      Thread.sleep(forTimeInterval: 0.2)
    }
    #expect(empty.isEmpty, "without data: \(empty.map { "\($0.panel): \($0.expression)" }.sorted())")
    let counts = (found: filled.count - empty.count, exceptions: all.count - filled.count)
    print("dashboard: \(counts.found) of \(filled.count) queries returned data; \(counts.exceptions) are exceptions")
  }
}
