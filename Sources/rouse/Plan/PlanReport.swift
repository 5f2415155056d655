import Domain
import Planning
import Policies
import Replay

/// The text output of `rouse plan`: its summary.
enum PlanReport {
  /// Returns the cause of a zombie in words.
  private static func words(_ cause: ZombieSign) -> String {
    switch cause {
    case .neverRegistered: "started by push, and the device registered nothing for it within half an hour"
    case .tokenRejected: "APNs refused its token for good"
    case .pushRefused: "APNs refused its newest push"
    }
  }

  /// Returns the summary of a run.
  /// - Parameters:
  ///   - summary: The counts of the run.
  ///   - seconds: The duration of the run.
  ///   - peakBytes: The most memory that the process has used; nil if the system cannot tell.
  ///   - registersActivities: Whether there are registrations of the Live Activities that pushes started: devices made them, or the plan
  ///     stands for a log.
  static func text(
    _ summary: PlanSummary, seconds: Double, peakBytes: Int?, registersActivities: Bool
  ) -> PrintableText {
    var lines = inputs(summary) + results(summary)
    let rate = Digits.grouped(Int(Double(summary.decisions) / max(seconds, 1e-6)))
    lines.append(("took", "\(Digits.decimal(seconds, 2)) s, \(rate) decisions/s"))
    if let peakBytes { lines.append(("memory", "\(Digits.grouped(peakBytes >> 20)) MiB at most")) }
    let width = lines.map(\.0.count).max() ?? 0
    let rows = lines.map { "\($0)\(PrintableText.spaces(width - $0.count + 2))\($1)" as PrintableText }
    return rows.joined(separator: "\n") + details(summary, registersActivities)
  }

  /// Returns the lines about the records that were read.
  private static func inputs(_ summary: PlanSummary) -> [(String, String)] {
    var lines: [(String, String)] = []
    if let first = summary.first, let last = summary.last { lines.append(("time", "\(first) to \(last)")) }
    lines.append(("events", Digits.grouped(summary.events)))
    if summary.signals > 0 { lines.append(("signals", Digits.grouped(summary.signals))) }
    if summary.outOfOrder > 0 {
      lines.append(("out of order", "\(Digits.grouped(summary.outOfOrder)), planned at log time"))
    }
    lines.append(("dead letters", Digits.grouped(summary.deadLetters)))
    if summary.eventsWithKeysLeftOut > 0 {
      let events = Digits.count(summary.eventsWithKeysLeftOut, "event")
      let keysMax = DomainBounds.interestsPerEventMax
      lines.append(
        (
          "keys left out",
          "of \(events) with more than \(keysMax) interest keys; subscribers to the others were skipped"
        ))
    }
    let instances = Digits.count(summary.instances, "instance")
    lines.append(("devices", "\(Digits.grouped(summary.devices)) with \(instances)"))
    return lines
  }

  /// Returns the lines about decisions and commands.
  private static func results(_ summary: PlanSummary) -> [(String, String)] {
    var lines = [("decisions", Digits.grouped(summary.decisions))]
    for (outcome, count) in summary.outcomes {
      let share = Digits.decimal(Double(count) / Double(max(1, summary.decisions)) * 100, 1)
      lines.append(("", "\(Digits.grouped(count))  \(share) %  \(outcome.verdict.rawValue) \(outcome.reason.rawValue)"))
    }
    let surfaces = summary.commandsBySurface.filter {
      $0.count > 0 || $0.surface == .widget || $0.surface == .background
    }
    let commands = surfaces.map { "\($0.surface.rawValue) \(Digits.grouped($0.count))" }.joined(separator: ", ")
    lines.append(("commands", "\(Digits.grouped(summary.commands)): \(commands)"))
    let payloads = summary.payloads.filter { $0.count > 0 }
    if !payloads.isEmpty {
      let bands = payloads.map { "\($0.band.rawValue) \(Digits.grouped($0.count))" }
      lines.append(("payloads", bands.joined(separator: ", ")))
    }
    let charged = zip(Command.Ledger.allCases, summary.charged).filter { $1 > 0 }
      .map { "\($0.rawValue) \(Digits.grouped($1))" }
    lines.append(("charged", charged.isEmpty ? "nothing" : charged.joined(separator: ", ")))
    if summary.zombies > 0 {
      lines.append(("zombies", "\(Digits.count(summary.zombies, "activity", "activities")) that pushes do not end"))
    }
    if summary.pending > 0 { lines.append(("still waiting", Digits.grouped(summary.pending))) }
    return lines
  }

  /// Returns the first refused payloads, zombies and refused lines, each on a line of its own after a line feed.
  private static func details(_ summary: PlanSummary, _ registersActivities: Bool) -> PrintableText {
    var text: PrintableText = ""
    for payload in summary.refusedPayloads {
      text += "\nrefused \(payload)\(payload.count > 1 ? "; \(Digits.grouped(payload.count)) of this kind" : "")"
    }
    for zombie in summary.firstZombies {
      text += "\nzombie \(zombie.kind) about \(zombie.subject) on \(zombie.device), started \(zombie.since): "
      text += "\(words(zombie.cause))"
    }
    let moreZombies = summary.zombies - summary.firstZombies.count
    if moreZombies > 0 {
      text += "\nand \(Digits.grouped(moreZombies)) more zombies; "
      text += "`rouse audit zombies` lists those that were started by push and have no token"
    }
    if !registersActivities, summary.firstZombies.contains(where: { $0.cause == .neverRegistered }) {
      text += "\nif the files hold no registrations of such activities, --register-activities lets devices "
      text += "register them"
    }
    for line in summary.firstDeadLetters { text += "\nrefused \(line)" }
    let more = summary.deadLetters - summary.firstDeadLetters.count
    if more > 0 { text += "\nand \(Digits.grouped(more)) more; all of them go to --dead-letters" }
    return text
  }
}
