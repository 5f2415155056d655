import Backtesting
import Domain
import Policies

/// The text output of `rouse simulate`.
enum BacktestText {
  /// Returns the text of a report.
  static func text(_ report: BacktestReport) -> PrintableText {
    var text: PrintableText = ""
    if let first = report.first, let last = report.last { text += "\(first) to \(last), " }
    text += "\(Digits.count(report.events, "event")), \(Digits.count(report.devices, "device")), "
    if report.signals > 0 { text += "\(Digits.count(report.signals, "signal")), " }
    text += "\(Digits.grouped(report.measured)) of \(Digits.count(report.instances, "instance")) measured\n"
    for policy in report.commands {
      text +=
        "\(policy.name): \(Digits.count(policy.decisions, "decision")), \(Digits.count(policy.commands, "command"))\n"
    }
    if report.deadLetters > 0 {
      text += "\(Digits.count(report.deadLetters, "line")) refused"
      if let letter = report.firstDeadLetter { text += ", the first: \(letter)" }
      text += "\n"
    }
    if report.kinds.isEmpty {
      text += "\nno change arrived at any measured instance: do the interests match the events?\n"
    }
    for kind in report.kinds { text += "\n" + self.text(kind) }
    if !report.kinds.isEmpty, report.deviceModel.name != .trusting { text += "\n" + modelText(report) }
    if !report.shared.isEmpty { text += "\n" + sharedText(report) }
    return text + "\n" + surfaceText(report)
  }

  private static func text(_ kind: BacktestReport.Kind) -> PrintableText {
    let perDay = Double(kind.arrivals) / Double(max(1, kind.instanceDays))
    var text: PrintableText =
      "\(kind.name): \(Digits.count(kind.instances, "instance")), \(Digits.grouped(kind.instanceDays)) instance-days, "
    text += "\(Digits.decimal(perDay, 0)) visible changes a day\n"
    var rows = [
      [
        "", "tokens", "captured", "p10", "wrong looks", "freshness", "p10", "stale min", "fresh p50", "p95", "never",
        "waste", "unused", "starved", "over",
      ]
    ]
    for plan in kind.plans { rows.append(row(plan)) }
    text += table(rows)
    return text + hindsightText(kind) + objectiveText(kind) + screenText(kind)
  }

  /// Returns the lines about the optimum in hindsight: the best that the tokens could have done.
  private static func hindsightText(_ kind: BacktestReport.Kind) -> PrintableText {
    guard let plan = kind.plans.first(where: { $0.isPolicy }) else { return "" }
    let looks = plan.wrongLooks
    var text: PrintableText =
      "wrong looks a day: \(Digits.decimal(looks.perDayWithout, 2)) without paid reloads, at least "
    text += "\(Digits.decimal(looks.perDayOptimum, 2)) with \(plan.tokens) tokens; measured on "
    text += "\(Digits.grouped(looks.samples)) of \(Digits.count(kind.screenDays, "day")) with a change\n"
    if kind.screenDaysThinned > 0 {
      text +=
        "on \(Digits.count(kind.screenDaysThinned, "day")) with very many changes, the optimum may reload only at "
      text += "every second, third … change, and can be a little worse than the best\n"
    }
    text +=
      "freshness at \(plan.tokens) tokens in hindsight: \(Digits.decimal(plan.hindsightReloadsPerDay, 1)) reloads a "
    return text + "day, price \(Digits.decimal(plan.hindsightPriceMean, 3))\n"
  }

  /// Returns the table about the objective; empty if no policy has one.
  private static func objectiveText(_ kind: BacktestReport.Kind) -> PrintableText {
    let rows = kind.plans.compactMap { plan in plan.objective.map { (name: plan.name, objective: $0) } }
    return rows.isEmpty ? "" : "\n" + objectives(rows)
  }

  /// Returns a table of changes that count for objectives.
  /// - Parameter rows: The name of each row with its changes.
  static func objectives(_ rows: [(name: String, objective: BacktestReport.Objective)]) -> PrintableText {
    func percent(_ part: Int, _ whole: Int) -> String {
      whole == 0 ? "-" : Digits.decimal(Double(part) / Double(whole) * 100, 1) + " %"
    }
    let head = ["objective", "goal", "within", "changes", "in time", "at best", "missed", "avoidable", "unavoidable"]
    var text = table(
      [head]
        + rows.map { name, objective in
          let (changes, met, possible) = (objective.changes, objective.met, objective.possible)
          return [
            name, Digits.decimal(objective.share * 100, 1) + " %", DurationText.format(objective.freshWithin),
            Digits.grouped(changes), percent(met, changes), percent(possible, changes), Digits.grouped(changes - met),
            Digits.grouped(possible - met), Digits.grouped(changes - possible),
          ]
        })
    text +=
      "at best: as many of these changes as any reloads within the tokens and the minimum interval could have shown\n"
    let bound = rows.reduce(0) { max($0, $1.objective.instancesBound) }
    if bound > 0 {
      text += "on \(Digits.count(bound, "instance")) with very many changes, at best is an upper bound\n"
    }
    return text
  }

  /// Returns the table of the content that screens really showed; empty if it is not known.
  private static func screenText(_ kind: BacktestReport.Kind) -> PrintableText {
    var rows = [
      [
        "on the screen", "tokens", "refused", "captured", "p10", "believed", "wrong looks", "freshness", "looks",
        "stale",
      ]
    ]
    for plan in kind.plans {
      guard let screen = plan.screen else { continue }
      rows.append([
        plan.name, String(plan.tokens), Digits.grouped(screen.refused),
        Digits.decimal(screen.wrongLooks.capturedMean, 3), Digits.decimal(screen.wrongLooks.capturedP10, 3),
        signed(plan.wrongLooks.capturedMean - screen.wrongLooks.capturedMean),
        Digits.decimal(screen.wrongLooks.perDay, 2), Digits.decimal(screen.capturedMean, 3),
        Digits.grouped(screen.looks),
        screen.looks > 0 ? Digits.decimal(Double(screen.looksStale) / Double(screen.looks) * 100, 1) + " %" : "-",
      ])
    }
    return rows.count > 1 ? "\n" + table(rows) : ""
  }

  private static func signed(_ value: Double) -> String { (value < 0 ? "" : "+") + Digits.decimal(value, 3) }

  private static func modelText(_ report: BacktestReport) -> PrintableText {
    var text: PrintableText =
      "device model \(report.deviceModel.name.rawValue), seed \(report.deviceModel.seed); refused: pushes that "
    text +=
      "devices accepted without a reload; believed: the planner's captured minus the screen's\n"
    for policy in report.commands { text += "\(policy.name): \(Digits.count(policy.receipts, "receipt"))\n" }
    return text
  }

  private static func sharedText(_ report: BacktestReport) -> PrintableText {
    var rows = [["shared limits", "days", "shown", "sum of optima", "upper bound", "of bound", "p10"]]
    for bound in report.shared {
      rows.append([
        bound.name, Digits.grouped(bound.samples), Digits.decimal(bound.shown, 1), Digits.decimal(bound.sumOfOptima, 1),
        Digits.decimal(bound.upperBound, 1), Digits.decimal(bound.capturedMean, 3),
        Digits.decimal(bound.capturedP10, 3),
      ])
    }
    var text =
      table(rows) + "upper bound (Lagrangian): no plan within the limits shows more; the best plan may show less\n"
    if report.kinds.contains(where: { $0.plans.contains { !$0.isPolicy } }) {
      text += "baselines keep only the day's tokens and the minimum interval, neither quiet hours nor limits that "
      text += "instances share: what they capture is more than such devices allow\n"
    }
    return text
  }

  private static func surfaceText(_ report: BacktestReport) -> PrintableText {
    var rows = [
      ["", "surface", "commands", "starts", "updates", "ends", "at 10", "at 5", "told", "never told", "waste"]
    ]
    for policy in report.commands {
      for counts in policy.surfaces {
        let isActivity = counts.surface.showsActivities
        let activity = [counts.starts, counts.updates, counts.ends, counts.priority10, counts.priority5]
        let waste = counts.reloads > 0 ? Double(counts.reloadsWasted) / Double(counts.reloads) * 100 : 0
        rows.append(
          [policy.name, counts.surface.rawValue, Digits.grouped(counts.commands)]
            + activity.map { isActivity ? Digits.grouped($0) : "-" }
            + [
              Digits.grouped(counts.told), Digits.grouped(counts.neverTold),
              isActivity ? "-" : Digits.decimal(waste, 1) + " %",
            ])
      }
    }
    var text = table(rows)
    for policy in report.commands {
      text += "\(policy.name), over budget: "
      text += policy.ledgers.map { "\($0.ledger.rawValue) \($0.over)" as PrintableText }.joined(separator: ", ") + "\n"
      if !policy.activityFates.isEmpty {
        let fates = policy.activityFates.map { "\($0.label) \(Digits.grouped($0.count))" }
        text += "\(policy.name), activities: \(fates.joined(separator: ", "))\n"
      }
    }
    return text
  }

  private static func row(_ plan: BacktestReport.Plan) -> [String] {
    let waste = plan.reloads > 0 ? Double(plan.reloadsWasted) / Double(plan.reloads) * 100 : 0
    return [
      plan.name, String(plan.tokens), Digits.decimal(plan.wrongLooks.capturedMean, 3),
      Digits.decimal(plan.wrongLooks.capturedP10, 3), Digits.decimal(plan.wrongLooks.perDay, 2),
      Digits.decimal(plan.capturedMean, 3), Digits.decimal(plan.capturedP10, 3),
      Digits.decimal(plan.staleSecondsPerDay / 60, 0), wait(plan.secondsToFreshP50), wait(plan.secondsToFreshP95),
      plan.criticalChanges == 0
        ? "-" : Digits.decimal(Double(plan.criticalNeverShown) / Double(plan.criticalChanges) * 100, 1) + " %",
      Digits.decimal(waste, 1) + " %", Digits.decimal(plan.tokensUnusedPerDay, 1), String(plan.daysStarved),
      String(plan.overBudget),
    ]
  }

  /// Returns the time until a change was shown: `-` without a change, `never` if it was not shown.
  private static func wait(_ seconds: Double?) -> String {
    guard let seconds else { return "-" }
    if !seconds.isFinite { return "never" }
    return seconds < 60 ? "\(Digits.decimal(seconds, 0)) s" : "\(Digits.decimal(seconds / 60, 1)) min"
  }

  /// Returns the text of the table of `--strategies`.
  static func text(_ table: ClassicStrategies) -> PrintableText {
    var text: PrintableText = "\(table.tokens) tokens a day, awake from \(clock(table.wakingHours.lowerBound * 60)) to "
    text += "\(clock(table.wakingHours.upperBound * 60)); tokens left at the hour\n\n"
    let hours = stride(from: 6, through: 24, by: 2)
    var rows = [["", "wanted", "granted", "empty at"] + hours.map { "\($0)h" }]
    for row in table.rows {
      rows.append(
        [row.name, String(row.wanted), String(row.granted), row.exhaustedMinute.map(clock) ?? "-"]
          + hours.map { String(row.left[$0]) })
    }
    text += self.table(rows) + "\n"
    for row in table.rows { text += "\(row.name): \(row.rule)\n" }
    return text
  }

  /// Returns minutes after midnight as a time of day: `10:55`.
  private static func clock(_ minute: Int) -> String {
    let rest = String(minute % 60)
    return "\(minute / 60):\(rest.count < 2 ? "0" : "")\(rest)"
  }

  /// Returns rows as a table, with the first column aligned left and the others right.
  private static func table(_ rows: [[String]]) -> PrintableText {
    let rows = rows.map { row in row.map { PrintableText(escaping: $0) } }
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row -> PrintableText in
      row.enumerated().map { column, cell -> PrintableText in
        let space = PrintableText.spaces(widths[column] - cell.count)
        return column == 0 ? cell + space : space + cell
      }.joined(separator: "  ") + "\n"
    }.joined()
  }
}
