import ArgumentParser
import Benchmarks
import Domain

/// Runs the embedded broker of a benchmark as a child process; hidden, because only benchmarks start it.
struct BenchBrokerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "broker", abstract: "Run an embedded broker until standard input ends; the benchmarks start it.",
    discussion: """
      Prints its address first. Then it makes a topic for every line `name partitions` and answers `ok`.

      EXAMPLE
        rouse bench broker
      """, shouldDisplay: false)

  func run() throws {
    try BrokerService.run(read: { readLine() }, write: { try Output.print(data: $0 + "\n") })
  }
}
