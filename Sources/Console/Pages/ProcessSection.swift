import Auditing
import Domain
import Installation
import Operating
import Pipeline

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
    let status = process.status()
    section.tables = [roles(process, status, now)]
    let partitions = status.planners.values.flatMap(\.partitions).sorted { $0.number < $1.number }
    if process.roles.contains(.planner) { section.tables.append(restores(partitions)) }
    return section
  }

  private static func roles(
    _ process: ConsoleProcess, _ status: PipelineStatus.StatusSnapshot, _ now: Timestamp
  ) -> PageTable {
    var table = PageTable(
      name: "roles", caption: "Roles and their threads", columns: ["Role", "#Threads", "Ready", "#Last turn, s ago"],
      empty: "The process has no role.")
    table.rows = process.roles.map { role in
      let threads = process.threads.filter { $0.role == role }
      guard !threads.isEmpty else {
        return [
          PageCell(role.rawValue), PageCell("–", isNumber: true), PageCell(role == .console ? "yes" : "not known"),
          PageCell("–", isNumber: true),
        ]
      }
      let reasons = status.reasonsNotReady(threads)
      let oldest = threads.compactMap { status.turns[$0] }.min()
      return [
        PageCell(role.rawValue), .number(threads.count),
        reasons.isEmpty
          ? PageCell("yes", tone: .good) : PageCell("no", tone: .bad, detail: reasons.joined(separator: "; ")),
        oldest.map { .number(Int(max(0, now.microseconds - $0) / 1_000_000)) } ?? PageCell("none yet", isNumber: true),
      ]
    }
    return table
  }

  private static func restores(_ partitions: [PipelineStatus.PartitionStatus]) -> PageTable {
    PartitionTable.table(
      partitions.map { (nil, ProcessStatus.OwnedPartition($0)) }, name: "restores",
      caption: "Log partitions of this process, and how their state was read",
      empty: "No log partition is planned by this process now.")
  }
}

extension ProcessStatus.OwnedPartition {
  /// Tells of a partition of the console's own process.
  fileprivate init(_ partition: PipelineStatus.PartitionStatus) {
    self.init(
      number: partition.number, state: partition.state.rawValue, devices: partition.devices,
      lagRecords: partition.lagRecords,
      restore: partition.restoredFrom.map {
        .init(isUnderWay: false, source: $0 == .topic ? "topic" : "snapshot", seconds: partition.restoreSeconds)
      })
  }
}
