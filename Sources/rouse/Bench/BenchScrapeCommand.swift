import ArgumentParser
import Benchmarks
import Console
import DeviceView
import Domain
import Foundation
import Gateway
import Installation
import JSON
import Keys
import Observing
import Pipeline
import Serving

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct BenchScrapeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scrape", abstract: "Measure the time and the bytes of one scrape of the metrics of a large process.",
    discussion: """
      The process has all roles, all partitions and all kinds, each kind with every reason, and takes tokens. Nothing is planned: the \
      figures are made up. The page is fetched over HTTP from this process, one time after the other.

      EXAMPLE
        rouse bench scrape
        rouse bench scrape --partitions 256 --kinds 100
      """)

  @Option(help: ArgumentHelp("Partitions that the process owns.", valueName: "count"))
  var partitions = 64
  @Option(help: ArgumentHelp("Kinds of the policy.", valueName: "count"))
  var kinds = 50
  @Option(help: ArgumentHelp("Scrapes of each format; the report shows the median and the longest.", valueName: "n"))
  var scrapes = 20
  @OptionGroup var output: FormatOption

  func validate() throws {
    try BenchLimits.check("--partitions", partitions, 1...1024)
    try BenchLimits.check("--kinds", kinds, 1...100)
    try BenchLimits.check("--scrapes", scrapes, 1...10_000)
  }

  /// The scrapes of one format.
  private struct FormatScrapes {
    var format: ExpositionFormat
    var seconds: [Double]
    var bytes: Int

    /// The key of the format in JSON, and in the header `Accept`.
    var key: StaticString { format == .openMetrics ? "openMetrics" : "prometheus" }
  }

  func run() async throws {
    let counters = Self.process(partitions: partitions, kinds: kinds)
    let pages = MachinePages(counters: counters, stop: StopSignal(), threads: [])
    let listener = try await HTTPListener.start(
      HTTPAddress(host: "127.0.0.1", port: 0), pages: pages.pages)
    var all: [FormatScrapes] = []
    for format in ExpositionFormat.allCases { all.append(try await scrape(listener.address, as: format)) }
    await listener.stop()
    switch output.format {
    case .text: try Output.print(PrintableText(lines: text(all)))
    case .json: try Output.print(json(all))
    }
  }

  /// Returns the figures of a process with all roles.
  static func process(partitions: Int, kinds: Int) -> PipelineCounters {
    let counters = PipelineCounters.sample(partitions: partitions, kinds: kinds)
    ProcessMetrics.add(to: counters.registry)
    _ = GatewayMetrics(counters.registry)
    _ = DeviceViewMetrics(counters.registry)
    _ = ConsoleMetrics(counters.registry)
    TokenMetrics(counters.registry).addSample()
    return counters
  }

  /// Fetches the page several times.
  private func scrape(_ address: HTTPAddress, as format: ExpositionFormat) async throws -> FormatScrapes {
    guard let url = URL(string: "http://\(address.text)/metrics") else {
      throw Failure("no page at \(address.text)")
    }
    var request = URLRequest(url: url)
    request.setValue(format.contentType, forHTTPHeaderField: "Accept")
    var figures = FormatScrapes(format: format, seconds: [], bytes: 0)
    for _ in 0..<scrapes {
      let began = MonotonicClock.seconds()
      let (body, _) = try await URLSession.shared.data(for: request)
      figures.seconds.append(MonotonicClock.seconds() - began)
      figures.bytes = max(figures.bytes, body.count)
    }
    return figures
  }

  private func text(_ all: [FormatScrapes]) -> String {
    var text = "\(BenchMachine.lines)\n"
    text += "process   \(Digits.count(partitions, "partition")), \(Digits.count(kinds, "kind"))\n"
    for figures in all {
      let name = figures.format == .openMetrics ? "OpenMetrics" : "Prometheus text"
      text += "scrape    \(name): \(Digits.grouped(figures.bytes)) bytes, "
      text += "\(Digits.decimal((figures.seconds.median ?? 0) * 1000, 1)) ms, "
      text += "at most \(Digits.decimal((figures.seconds.max() ?? 0) * 1000, 1)) ms\n"
    }
    return text
  }

  private func json(_ all: [FormatScrapes]) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    BenchMachine.write(to: &json)
    json.members([("partitions", partitions), ("kinds", kinds), ("scrapes", scrapes)])
    for figures in all {
      json.object(figures.key) { json in
        json.member("bytes", figures.bytes)
        json.member("seconds", rounded: figures.seconds.median ?? 0)
        json.member("secondsMax", rounded: figures.seconds.max() ?? 0)
      }
    }
    json.endObject()
    return json.bytes
  }
}
