import Auditing
import Domain
import Operating

/// The part of the page about health that shows the other processes: their roles, and the restores of their partitions.
enum OtherProcessesSection {
  /// The most processes that the page lists. The CSV has all of them.
  private static let rowsMax = 100

  /// Returns the section.
  ///
  /// - Parameters:
  ///   - view: The answers; nil before the first.
  ///   - now: The wall clock.
  static func section(_ view: ProcessWatch.ProcessView?, _ now: Timestamp) -> PageSection {
    var section = PageSection(heading: "Other processes")
    guard let view else {
      section.paragraphs = [["They are being asked; this page shows them in a moment."]]
      return section
    }
    section.paragraphs = [
      [
        "Those of ", PageCell("console.processes", tone: .code),
        PageCell(", asked \(max(0, (now - view.at).microseconds / 1_000_000)) s ago."),
      ]
    ]
    section.tables = [processes(view.processes)]
    let partitions = view.processes.flatMap { process -> [(String?, ProcessStatus.OwnedPartition)] in
      guard case .status(let status) = process.answer else { return [] }
      return status.partitions.map { (process.address, $0) }
    }
    if !partitions.isEmpty {
      let sorted = partitions.sorted { ($0.1.number, $0.0 ?? "") < ($1.1.number, $1.0 ?? "") }
      section.tables.append(
        PartitionTable.table(
          sorted, name: "other-restores", caption: "Log partitions of these processes, and how their state was read",
          empty: "None."))
    }
    return section
  }

  private static func processes(_ processes: [OtherProcess]) -> PageTable {
    var table = PageTable(
      name: "processes", caption: "Processes",
      columns: ["Address", "Roles", "Version", "Ready", "#Log partitions", "#Records waiting"],
      empty: "The addresses lead to no process.", shownMax: rowsMax)
    table.rows = processes.map { process in
      let none = PageCell("–", isNumber: true)
      switch process.answer {
      case .failure(let words):
        return [
          PageCell(process.address), "–", "–", PageCell("does not tell", tone: .bad, detail: words), none, none,
        ]
      case .status(let status):
        let lags = status.partitions.compactMap(\.lagRecords)
        return [
          PageCell(process.address), PageCell(status.roles.joined(separator: ", ")), PageCell(status.version),
          ready(status), status.partitions.isEmpty ? none : .number(status.partitions.count),
          lags.isEmpty ? none : .number(Int(lags.reduce(Int64(0)) { $0.addingSaturating($1) })),
        ]
      }
    }
    return table
  }

  private static func ready(_ status: ProcessStatus) -> PageCell {
    guard status.notReady.isEmpty else {
      return PageCell("no", tone: .bad, detail: status.notReady.joined(separator: "; "))
    }
    return status.missing.isEmpty
      ? PageCell("yes", tone: .good)
      : PageCell("yes", tone: .good, detail: "without: " + status.missing.joined(separator: "; "))
  }
}

/// Lists log partitions with their restores.
enum PartitionTable {
  /// The most partitions that a page lists. The CSV has all of them.
  private static let rowsMax = 200

  /// Returns a table.
  ///
  /// - Parameters:
  ///   - partitions: The partitions in their order, each with the address of its process; nil for the console's own, whose table has no such column.
  ///   - name: The name of the table in addresses.
  ///   - caption: The caption.
  ///   - empty: The words for no partition.
  static func table(
    _ partitions: [(process: String?, partition: ProcessStatus.OwnedPartition)], name: String, caption: String,
    empty: String
  ) -> PageTable {
    let hasProcesses = partitions.contains { $0.process != nil }
    var table = PageTable(
      name: name, caption: caption,
      columns: (hasProcesses ? ["Process"] : [])
        + ["Partition", "State", "#Devices", "#Waiting", "Restored from", "#Restore, s"],
      empty: empty, shownMax: rowsMax)
    table.rows = partitions.map { process, partition in
      let none = PageCell("–", isNumber: true)
      return (process.map { [PageCell($0)] } ?? []) + [
        PageCell("\(partition.number)"),
        PageCell(
          partition.state,
          tone: partition.state == "planning" ? .good : partition.state == "stopped" ? .bad : nil),
        partition.devices.map { .number($0) } ?? none, partition.lagRecords.map { .number(Int($0)) } ?? none,
        PageCell(words(partition)), partition.restore?.seconds.map { .decimal($0) } ?? none,
      ]
    }
    return table
  }

  private static func words(_ partition: ProcessStatus.OwnedPartition) -> String {
    let source =
      partition.restore?.source == "snapshot" ? "local snapshot, and the topic behind it" : partition.restore?.source
    if partition.restore?.isUnderWay == true { return "under way: \(source ?? "topic")" }
    return source ?? "not yet"
  }
}
