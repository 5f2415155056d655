import ArgumentParser
import Benchmarks
import Domain
import JSON
import Serving

/// Measures the pages of the web console.
struct BenchConsoleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "console", abstract: "Measure the pages of a running console: their time and size.",
    discussion: """
      The benchmark follows links from the first page and fetches one page of each sort several times, one after the other; \
      also the device and the event with most decisions, and the decisions with each reason. \
      The console must run on this host without keys, tokens and TLS, as that of a demo does.

      EXAMPLE
        rouse demo --stay        # in another terminal
        rouse bench console --port 8090
      """)

  @Option(help: ArgumentHelp("The console's port.", valueName: "port"))
  var port = ConsoleRole.defaultAddress.port
  @Option(help: ArgumentHelp("How many times each page is fetched.", valueName: "count"))
  var rounds = 10
  @OptionGroup var output: FormatOption

  func validate() throws {
    try BenchLimits.check("--port", port, 1...65_535)
    try BenchLimits.check("--rounds", rounds, 1...10_000)
  }

  func run() throws {
    let progress = ProgressLine()
    let pages = try ConsoleBenchmark(port: port, rounds: rounds) { progress.show("\($0)") }.run()
    progress.end()
    switch output.format {
    case .text: try Output.print(PrintableText(lines: text(pages)))
    case .json: try Output.print(json(pages))
    }
  }

  private func text(_ pages: [ConsoleBenchmark.Page]) -> String {
    var text = "\(BenchMachine.lines)\n"
    text += "pages     \(Digits.count(pages.count, "page")), each \(Digits.count(rounds, "time"))\n"
    for page in pages.sorted(by: { $0.milliseconds.median > $1.milliseconds.median }) {
      let (median, max) = page.milliseconds
      text += "  \(Digits.decimal(median, 1)) ms, at most \(Digits.decimal(max, 1)) ms, "
      text += Digits.count(page.bytes, "byte")
      text += page.status == 200 ? "" : ", status \(page.status)"
      text += "  \(page.path)\n"
    }
    let slowest = pages.map(\.milliseconds.median).max() ?? 0
    text += "slowest   \(Digits.decimal(slowest, 1)) ms (median)\n"
    text += "largest   \(Digits.grouped(pages.map(\.bytes).max() ?? 0)) bytes\n"
    return text
  }

  private func json(_ pages: [ConsoleBenchmark.Page]) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      BenchMachine.write(to: &json)
      json.member("rounds", rounds)
      json.objects("pages", pages) { page, json in
        json.member("path", page.path)
        json.members([("status", page.status), ("bytes", page.bytes)])
        json.object("milliseconds") { json in
          json.member("median", rounded: page.milliseconds.median)
          json.member("max", rounded: page.milliseconds.max)
        }
      }
    }
    return json.bytes
  }
}
