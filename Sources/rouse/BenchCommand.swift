import ArgumentParser

struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure on this machine.",
    discussion: """
      Figures from a debug build mean nothing: build with -c release.

      EXAMPLE
        rouse bench planner
        rouse bench audit --store /tmp/bench.sqlite
      """,
    subcommands: [BenchPlannerCommand.self, BenchAuditCommand.self])
}
