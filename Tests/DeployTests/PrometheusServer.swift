import Foundation
import FoundationNetworking
import JSON

/// A Prometheus on 127.0.0.1, with its data in a temporary folder.
final class PrometheusServer {
  /// A series of an answer, with its value.
  struct Sample {
    var labels: [String: String]
    var value: Double
  }

  private let program: Program
  private let address: String

  /// Starts it.
  /// - Parameters:
  ///   - targets: the addresses that it scrapes twice a second, as the job `rouse`.
  ///   - rules: the text of its rules; nil for none.
  ///   - folder: gets configuration and data.
  ///   - tool: the program.
  /// - Throws: when it does not start.
  init(_ targets: [String], rules: String? = nil, in folder: TemporaryFolder, _ tool: Tool) throws {
    let list = targets.map { "\"\($0)\"" }.joined(separator: ", ")
    var configuration = """
      global: { scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 250ms }
      scrape_configs:
        - job_name: rouse
          static_configs: [{ targets: [\(list)] }]

      """
    if let rules {
      try Data(rules.utf8).write(to: folder.url.appending(path: "rules.yaml"))
      configuration += "rule_files: [rules.yaml]\n"
    }
    try Data(configuration.utf8).write(to: folder.url.appending(path: "prometheus.yaml"))
    program = try Program(
      tool.path,
      [
        "--config.file=prometheus.yaml", "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0",
        // Series end soon, as they do on the usual scale after five minutes.
        "--query.lookback-delta=5s",
      ], in: folder.url)
    address = try program.waitFor(/"Listening on" address=(127\.0\.0\.1:\d+)/)
    _ = try program.waitFor(/(Server is ready to receive web requests)/)
  }

  /// Asks for the value of an expression.
  /// - Parameters:
  ///   - expression: in PromQL.
  ///   - time: the instant; nil for now.
  /// - Returns: its series.
  /// - Throws: what Prometheus has against the expression.
  func query(_ expression: String, at time: Date? = nil) throws -> [Sample] {
    var components = URLComponents()
    (components.scheme, components.percentEncodedHost) = ("http", "127.0.0.1")
    components.port = address.split(separator: ":").last.flatMap { Int($0) }
    components.path = "/api/v1/query"
    components.queryItems = [URLQueryItem(name: "query", value: expression)]
    if let time { components.queryItems?.append(URLQueryItem(name: "time", value: "\(time.timeIntervalSince1970)")) }
    // A plus sign would be read as a space.
    components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
    guard let url = components.url else { throw Program.Missing(what: "a URL for \(expression)") }
    let answer = try JSONValue(parsing: String(decoding: try Data(contentsOf: url), as: UTF8.self))
    guard case .array(let series) = answer["data"]?["result"] else { throw Program.Missing(what: "\(answer)") }
    return series.map { element in
      var labels: [String: String] = [:]
      if case .object(let members) = element["metric"] {
        for case (let name, .string(let value)) in members { labels[name] = value }
      }
      guard case .string(let value) = element["value"]?[1] else { return Sample(labels: labels, value: .nan) }
      return Sample(labels: labels, value: Double(value) ?? .nan)
    }
  }
}
