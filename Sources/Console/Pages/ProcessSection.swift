import Auditing
import Domain
import Installation
import Operating

/// The part of the page about health that shows the process of the console: its roles, and the restores of its partitions.
enum ProcessSection {
  /// Returns the section.
  ///
  /// - Parameters:
  ///   - process: The process; nil if it is not known.
  ///   - knowsOthers: Whether the page shows other processes, too.
  ///   - now: The wall clock.
  static func section(_ process: ConsoleProcess?, knowsOthers: Bool, _ now: Timestamp) -> PageSection {
    var section = PageSection(heading: "Roles of this process")
    if !knowsOthers {
      section.paragraphs = [
        [
          "Other processes tell the same at ", PageCell("/status", tone: .code), " and ",
          PageCell("/readyz", tone: .code), " of their ", PageCell("http.listen", tone: .code),
          "; this page shows them, too, if ", PageCell("console.processes", tone: .code), " has their addresses.",
        ]
      ]
    }
    guard let process else { return section }
    let state = process.state()
    section.tables = [roles(state.roles, now)]
    if state.roles.contains(where: { $0.role == .planner }) { section.tables.append(restores(state.partitions)) }
    return section
  }

  private static func roles(_ roles: [ConsoleProcess.RunningRole], _ now: Timestamp) -> PageTable {
    var table = PageTable(
      name: "roles", caption: "Roles and their threads", columns: ["Role", "#Threads", "Ready", "#Last turn, s ago"],
      empty: "The process has no role.")
    table.rows = roles.map { running in
      let name = PageCell(running.role.rawValue)
      guard let threadCount = running.threadCount else {
        return [
          name, PageCell("–", isNumber: true), PageCell(running.role == .console ? "yes" : "not known"),
          PageCell("–", isNumber: true),
        ]
      }
      return [
        name, .number(threadCount),
        running.notReady.isEmpty
          ? PageCell("yes", tone: .good) : PageCell("no", tone: .bad, detail: running.notReady.joined(separator: "; ")),
        running.oldestTurn.map { .number(Int(max(0, now.microseconds - $0) / 1_000_000)) }
          ?? PageCell("none yet", isNumber: true),
      ]
    }
    return table
  }

  private static func restores(_ partitions: [ProcessStatus.OwnedPartition]) -> PageTable {
    PartitionTable.table(
      partitions.map { (nil, $0) }, name: "restores",
      caption: "Log partitions of this process, and how their state was read",
      empty: "No log partition is planned by this process now.")
  }
}
