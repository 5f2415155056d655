import ArgumentParser
import Auditing
import Domain
import JSON
import LineFiles

/// Writes the whole store as JSON lines.
struct AuditExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write every decision and command as JSON lines.",
    discussion: """
      A line is one decision or command, with the members that it has on its topic. In place of a push token stands its \
      hash, as in the store. Characters that hide or reorder text are escaped. --format has no effect: lines are always \
      JSON. A new file is for its owner alone (0600). `rouse verify --export` checks the books of an export.

      EXAMPLE
        rouse audit export --store audit.sqlite \\
          --from 2013-07-04T00:00:00Z --out since-july-4.jsonl.gz
      """)

  @Option(help: ArgumentHelp("The file to write.", valueName: "file"))
  var out = "-"
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    try Files.checkDistinct(outputs: [("--out", out)], inputs: Files.store("--store", audit.store))
    let store = try audit.open()
    var writer = try LineWriter(path: out, isPrivate: true)
    let line = ProgressLine()
    defer { line.end() }
    var written = 0
    var json = JSONWriter(reserving: 4096)
    let count = try store.export(time.range) { entry in
      json.reset()
      AuditJSON.write(entry, to: &json)
      try writer.append(PrintableJSON.escape(json.bytes))
      try writer.endLine()
      written += 1
      if written % 1024 == 0 { line.show("\(Digits.grouped(written)) rows") }
      return true
    }
    try writer.close()
    line.end()
    Words.say(count == 0 ? "nothing in that time" : "\(Digits.count(count, "row"))")
  }
}
