import Auditing
import Domain
import Pipeline

/// The part of the page about health that shows the process of the console: its roles, and the restores of its partitions.
enum ProcessSection {
  /// The most partitions that the page lists. The CSV has all of them.
  private static let rowsMax = 200

  /// Returns the section.
  ///
  /// - Parameters:
  ///   - process: The process; nil if it is not known.
  ///   - now: The wall clock.
  static func section(_ process: ConsoleProcess?, _ now: Timestamp) -> PageSection {
    var section = PageSection(heading: "Roles of this process")
    section.paragraphs = [
      [
        "Other processes tell the same at ", PageCell("/status", tone: .code), " and ",
        PageCell("/readyz", tone: .code), " of their ", PageCell("http.listen", tone: .code), "; ",
        PageCell("rouse doctor", tone: .code), " asks those whose addresses it is given.",
      ]
    ]
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
    var table = PageTable(
      name: "restores", caption: "Log partitions of this process, and how their state was read",
      columns: ["Partition", "State", "#Devices", "#Waiting", "Restored from", "#Restore, s"],
      empty: "No log partition is planned by this process now.", shownMax: rowsMax)
    table.rows = partitions.map { partition in
      let none = PageCell("–", isNumber: true)
      return [
        PageCell("\(partition.number)"),
        PageCell(
          partition.state.rawValue,
          tone: partition.state == .planning ? .good : partition.state == .stopped ? .bad : nil),
        .number(partition.devices), partition.lagRecords.map { .number(Int($0)) } ?? none,
        PageCell(partition.restoredFrom.map(words) ?? "not yet"), partition.restoreSeconds.map { .decimal($0) } ?? none,
      ]
    }
    return table
  }

  private static func words(_ source: PipelineStatus.PartitionStatus.StateOrigin) -> String {
    switch source {
    case .topic: "topic"
    case .snapshot: "local snapshot, and the topic behind it"
    }
  }
}
