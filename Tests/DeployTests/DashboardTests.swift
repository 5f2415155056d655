import Foundation
import JSON
import Testing

@Suite("Dashboard", .enabled(if: Tool.prometheus != nil, "\(Tool.reason)")) struct DashboardTests {
  /// A query of a panel.
  private struct Query: Hashable {
    var panel: String
    var expression: String
  }

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

  /// The number of times that the queries are asked, each time after at least 0.2 s: far more than the slowest machine needs.
  private static let rounds = 500

  /// Returns a query with the values of Grafana's variables, on the scale of the demo.
  private static func expression(_ query: Query) -> String {
    query.expression.replacing("$__rate_interval", with: "10s").replacing("$job", with: ".+")
      .replacing("[1d]", with: "[1m]").replacing("[1h]", with: "[1m]")
  }

  @Test("each query of each panel returns data of a demo, and of a process with everything that the demo leaves out")
  func data() throws {
    let folder = try TemporaryFolder()
    let demo = try Program(Tool.rouse, ["demo", "--devices", "2000", "--stay"], in: folder.url)
    let address = try demo.waitFor(/metrics +http:\/\/(127\.0\.0\.1:\d+)\/metrics/)
    // The lines of the addresses are written together.
    let console = try demo.waitFor(/console +http:\/\/(127\.0\.0\.1:\d+)\//)
    let looks = try ["/v1/summary", "/v1/decisions?limit=1"].map { try #require(URL(string: "http://\(console)\($0)")) }
    let whole = try WholeProcess()
    let rules = try ScaledRules(dividedBy: 60).text
    let prometheus = try PrometheusServer(
      [address, whole.address], rules: rules, in: folder, try #require(Tool.prometheus))
    let all = try queries()
    try #require(all.count > 80)
    var empty = all
    for _ in 0..<Self.rounds where !empty.isEmpty {
      try #require(demo.isRunning, "\(demo.words.suffix(2000))")
      for look in looks { _ = try? Data(contentsOf: look) }
      try whole.act()
      for query in empty {
        if try prometheus.query(Self.expression(query)).contains(where: { !$0.value.isNaN }) { empty.remove(query) }
      }
      Thread.sleep(forTimeInterval: 0.2)
    }
    #expect(
      empty.isEmpty,
      "without data: \(empty.map { "\($0.panel): \($0.expression)" }.sorted()); \(whole.words.suffix(2000))")
    print("dashboard: \(all.count - empty.count) of \(all.count) queries returned data")
  }
}
