import ArgumentParser
import Domain

/// Looks at a whole installation and says what to do.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Look at settings, cluster, processes, audit and disks, and say what to do.",
    discussion: """
      Prints what is wrong, the worst first: what it is, what it means, and what to do. It looks from this machine, as this \
      user, with the settings of the process that you care about, so run it where that process runs.

      Exits 1 when something is wrong, and 0 with warnings alone, unless --strict is given.

      The command only reads: it writes nothing to Kafka and to no file, and joins no group. Each step is bounded in time; \
      all of it takes less than a minute, and a few seconds as a rule.

      CHECKS
      \(Self.checks)

      The policy in force and the state of partitions come from running processes. The one at http.listen is asked, \
      and those of console.processes; name others with --status.

      EXAMPLE
        rouse doctor --config rouse.yaml
        rouse doctor --config rouse.yaml --status http://10.0.0.2:9464 --strict
      """)

  @Option(
    help: ArgumentHelp(
      "The address of a running process, http://host:port; may be given several times.", valueName: "address"),
    transform: { try Self.page($0) })
  var status: [NamedPage] = []
  @Flag(help: "Exit 1 for warnings, too.")
  var strict = false
  @OptionGroup var settings: SettingsOptions
  @OptionGroup var output: FormatOption

  /// The address of a process as it was given, and its page.
  struct NamedPage {
    var address: String
    var page: StatusPage
  }

  func run() throws {
    let probe = DoctorProbe(options: settings, named: status.map { ($0.address, $0.page) })
    let report = DoctorReport(try probe.facts())
    switch output.format {
    case .text: try Output.print(report.text)
    case .json: try Output.print(report.json)
    }
    if report.isFailure(strict: strict) { throw ExitCode(1) }
  }

  private static func page(_ text: String) throws -> NamedPage {
    guard let page = StatusPage(text), page.namesPort || text.contains("://") else {
      throw ValidationError("expected an address with a port, such as http://127.0.0.1:9464")
    }
    return NamedPage(address: text, page: page)
  }

  /// A line for each check, for the help.
  private static let checks = DoctorCheck.all.map { "  \($0.name): \($0.purpose)" }.joined(separator: "\n")
}
