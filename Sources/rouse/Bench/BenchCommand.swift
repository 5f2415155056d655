import ArgumentParser

struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure on this machine.",
    discussion: """
      Figures from a debug build mean nothing: build with -c release.

      EXAMPLE
        rouse bench planner
        rouse bench audit --store /tmp/bench.sqlite
        rouse bench intake --bootstrap localhost:9092
        rouse bench pipeline --bootstrap localhost:9092
        rouse bench observing --bootstrap localhost:9092
        rouse bench scrape
        rouse bench latency --bootstrap localhost:9092
        rouse bench restore --bootstrap localhost:9092
        rouse bench restart --bootstrap localhost:9092
        rouse bench gateway --bootstrap localhost:9092
        rouse bench console
      """,
    subcommands: [
      BenchPlannerCommand.self, BenchAuditCommand.self, BenchIntakeCommand.self, BenchPipelineCommand.self,
      BenchObservingCommand.self, BenchScrapeCommand.self, BenchLatencyCommand.self, BenchRestoreCommand.self,
      BenchRestartCommand.self, BenchGatewayCommand.self, BenchGatewayClientCommand.self,
      BenchGatewaySlowCommand.self, BenchConsoleCommand.self, BenchBrokerCommand.self,
    ])
}
