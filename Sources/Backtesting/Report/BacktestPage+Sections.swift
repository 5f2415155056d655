import Domain
import Policies

/// The table of what screens really showed, and the sections about shared limits, surfaces and the device model.
extension BacktestPage {
  /// Returns the table of the content that screens really showed, compared with the planner's assumption; empty if it is not
  /// known.
  func screenTable(_ kind: BacktestReport.Kind) -> String {
    let plans = kind.plans.filter { $0.screen != nil }
    if plans.isEmpty { return "" }
    var rows: [[String]] = []
    for plan in plans {
      guard let screen = plan.screen else { continue }
      let stale =
        screen.looks > 0 ? HTMLText.number(Double(screen.looksStale) / Double(screen.looks) * 100, 1) + " %" : "–"
      rows.append([
        plan.name, String(plan.tokens), String(screen.refused), HTMLText.number(plan.wrongLooks.capturedMean, 3),
        HTMLText.number(screen.wrongLooks.capturedMean, 3), HTMLText.number(screen.wrongLooks.capturedP10, 3),
        HTMLText.number(screen.wrongLooks.perDay, 2), HTMLText.number(screen.capturedMean, 3), String(screen.looks),
        stale,
      ])
    }
    var html = "<h3>On the screen</h3>\n"
    html += Self.table(
      [
        "plan", "tokens", "pushes refused", "captured, believed", "shown", "p10", "wrong looks", "freshness", "looks",
        "stale",
      ], rows,
      isOurs: { plans[$0].isPolicy })
    guard report.deviceModel.name != .trusting else { return html }
    html += "<div class=\"charts\">\n"
    html += SVGChart.bars(
      plans.map { plan in
        SVGChart.Bar(
          name: kind.plans.contains { $0.tokens != plan.tokens } ? "\(plan.name), \(plan.tokens)" : plan.name,
          value: plan.screen?.wrongLooks.capturedMean ?? 0, mark: plan.wrongLooks.capturedMean,
          policy: plan.isPolicy ? report.commands.firstIndex { $0.name == plan.name } : nil)
      }, caption: "wrong looks captured on the screen (bar) and as the planner believes (line)")
    return html + "</div>\n"
  }

  /// Returns the table of the changes that count for an objective; empty if no policy has one.
  func objectiveTable(_ kind: BacktestReport.Kind) -> String {
    var rows: [[String]] = []
    for plan in kind.plans {
      guard let objective = plan.objective else { continue }
      let (changes, met, possible) = (objective.changes, objective.met, objective.possible)
      let shares = [met, possible].map {
        changes == 0 ? "–" : HTMLText.number(Double($0) / Double(changes) * 100, 1) + " %"
      }
      rows.append(
        [plan.name, HTMLText.number(objective.share * 100, 1) + " %", DurationText.format(objective.freshWithin)]
          + [String(changes)] + shares + [changes - met, possible - met, changes - possible].map { String($0) })
    }
    if rows.isEmpty { return "" }
    var html =
      "<h3>Objective</h3>\n<p class=\"note\">Of the changes that counted for each policy, those that the screens showed in "
    html +=
      "time, and the most that any reloads within the tokens and the minimum interval could have shown in time.</p>\n"
    return html
      + Self.table(
        ["plan", "goal", "within", "changes", "in time", "at best", "missed", "avoidable", "unavoidable"], rows,
        isOurs: { _ in true })
  }

  /// The section about limits that instances share; empty if there are none.
  var sharedSection: String {
    if report.shared.isEmpty { return "" }
    var html =
      "<h2>Limits that instances share</h2>\n<p class=\"note\">Besides the day's tokens, a rate of pushes, the "
    html +=
      "number of an app, or one push for several widgets can bind. No plan then reaches the optimum of every single "
    html +=
      "instance. No plan within the limits shows more than the upper bound (Lagrangian relaxation); the best plan may "
    html += "show less. One sample is one day of the instances that a push reloads together.</p>\n"
    return html
      + Self.table(
        ["plan", "samples", "value shown", "sum of single optima", "upper bound", "shown of bound, mean", "p10"],
        report.shared.map {
          [
            $0.name, String($0.samples), HTMLText.number($0.shown, 1), HTMLText.number($0.sumOfOptima, 1),
            HTMLText.number($0.upperBound, 1), HTMLText.number($0.capturedMean, 3), HTMLText.number($0.capturedP10, 3),
          ]
        }, isOurs: { _ in true })
  }

  /// The section about surfaces and ledgers.
  var surfaceSection: String {
    var rows: [[String]] = []
    for policy in report.commands {
      for counts in policy.surfaces {
        let isActivity = counts.surface.showsActivities
        let waste = counts.reloads > 0 ? Double(counts.reloadsWasted) / Double(counts.reloads) * 100 : 0
        rows.append(
          [policy.name, counts.surface.rawValue, String(counts.commands)]
            + [counts.starts, counts.updates, counts.ends, counts.priority10, counts.priority5].map {
              isActivity ? String($0) : "–"
            } + [String(counts.told), String(counts.neverTold), isActivity ? "–" : HTMLText.number(waste, 1) + " %"])
      }
    }
    if rows.isEmpty { return "" }
    var html = "<h2>Surfaces</h2>\n"
    html += Self.table(
      [
        "plan", "surface", "commands", "starts", "updates", "ends", "priority 10", "priority 5", "told", "never told",
        "waste",
      ], rows, texts: [1], isOurs: { _ in false })
    html += "<p>Commands beyond the budget of a ledger, recounted from the commands; must be 0:</p>\n"
    var ledgers: [[String]] = []
    for policy in report.commands {
      ledgers += policy.ledgers.map { [policy.name, $0.ledger.rawValue, String($0.over)] }
    }
    html += Self.table(["plan", "ledger", "over"], ledgers, texts: [1], isOurs: { _ in false })
    for policy in report.commands where !policy.activityFates.isEmpty {
      let fates = policy.activityFates.map { "\($0.label) \(HTMLText.number(Double($0.count), 0))" }
      html += "<p>\(HTMLText.escape(policy.name)), activities: \(fates.joined(separator: ", "))</p>\n"
    }
    return html
  }

  /// The section about the numbers of the device model; empty for the trusting model.
  var modelSection: String {
    let figures = report.deviceModel.figures
    if figures.isEmpty { return "" }
    var html = "<h2>The devices</h2>\n<p class=\"note\">Model \(report.deviceModel.name.rawValue), seed "
    html += "\(report.deviceModel.seed). No planner sees these numbers.</p>\n"
    return html
      + Self.table(
        ["figure", "value", "confidence", "source"],
        figures.map {
          [$0.name, HTMLText.number($0.value, $0.value < 1 ? 2 : 0), $0.provenance.confidence, $0.provenance.source]
        }, texts: [2, 3], isOurs: { _ in false })
  }

  /// Returns a table.
  /// - Parameters:
  ///   - head: The titles of the columns.
  ///   - rows: The cells. The first column is text.
  ///   - texts: The places of further columns of text; all other columns are numbers.
  ///   - isOurs: Whether the row at a place belongs to a policy and is set in bold.
  private static func table(
    _ head: [String], _ rows: [[String]], texts: Set<Int> = [], isOurs: (Int) -> Bool
  ) -> String {
    func cells(_ row: [String], _ tag: String) -> String {
      row.enumerated().map { "<\(tag)\(texts.contains($0) ? " class=\"text\"" : "")>" + HTMLText.escape($1) }.joined()
    }
    var html = "<div class=\"wide\"><table>\n<tr>" + cells(head, "th") + "</tr>\n"
    for (place, row) in rows.enumerated() {
      html += "<tr\(isOurs(place) ? " class=\"ours\"" : "")>" + cells(row, "td") + "</tr>\n"
    }
    return html + "</table></div>\n"
  }
}

/// The charts of one day of one instance.
extension BacktestPage {
  /// Returns the charts of a day: the truth and the content that was shown, how wrong the screen was, and the looks.
  /// - Parameter example: The day; nil returns nothing.
  func exampleSection(_ example: ExampleDay?) -> String {
    guard let example else { return "" }
    var html = "<h3>One day: \(HTMLText.escape(example.instance.text)) of \(HTMLText.escape(example.device.text)), "
    html +=
      "\(example.date)</h3>\n<p class=\"note\">The median day of \(HTMLText.escape(example.plan)), which set right "
    html += "\(HTMLText.number(example.captured * 100, 1)) % of the wrong looks that could be. Marks at the bottom are "
    html += "reloads; columns are looks.</p>\n<div class=\"charts\">\n"
    if let number = example.number {
      html += SVGChart.day(
        [
          SVGChart.DayCurve(name: "truth", steps: number.truth, policy: nil),
          SVGChart.DayCurve(name: "shown", steps: number.shown, policy: 0),
        ], looks: example.looks, reloads: example.reloads,
        caption: "\(number.field.text): truth and shown, hours since the day's anchor")
    }
    html += SVGChart.day(
      [
        SVGChart.DayCurve(name: "without paid reloads", steps: example.wrongWithout, policy: nil),
        SVGChart.DayCurve(name: example.plan, steps: example.wrong, policy: 0),
      ], looks: example.looks, reloads: example.reloads, top: 1,
      caption: "how wrong the screen was, 1 is as wrong as can be; hours since the day's anchor")
    return html + "</div>\n"
  }
}
