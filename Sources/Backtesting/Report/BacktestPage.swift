import Domain

/// A report as one self-contained HTML page with tables and SVG charts, for light and dark displays. The page runs no
/// script and loads nothing.
public struct BacktestPage {
  let report: BacktestReport
  private let views: [Double]?

  /// Creates the page of a report.
  /// - Parameters:
  ///   - report: The report.
  ///   - views: The view curve that replaced the curves of the policies, 24 values; nil if none did.
  public init(_ report: BacktestReport, views: [Double]? = nil) {
    self.report = report
    self.views = views
  }

  /// The page.
  public var html: String {
    var body = "<h1>Rouse: what the budgets bought</h1>\n<p>" + summary + "</p>\n"
    body += """
      <p class="note">A look at a screen that is wrong counts by how wrong it is. Wrong looks captured is the share of them \
      that a plan set right, of those that as many reloads could have set right in hindsight. Freshness captured is an older \
      measure: the relevance of the changes shown, halved every half-life, times the chance of a look, as a share of the \
      most. One sample is one instance on one day; p10 is the value that nine of ten samples reach.</p>

      """
    for kind in report.kinds { body += section(kind) }
    body += sharedSection + surfaceSection + modelSection
    if let views {
      body +=
        "<h2>When people look</h2>\n"
        + SVGChart.columns(views, caption: "chance of a look by local hour, best hour = 1")
    }
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Rouse: policies compared</title>
      <style>\(PageStyle.text)</style>
      </head>
      <body>
      \(body)</body>
      </html>

      """
  }

  private var summary: String {
    var text = ""
    if let first = report.first, let last = report.last { text += "\(first) to \(last). " }
    text +=
      "\(report.events) events, \(report.signals) signals, \(report.devices) devices, \(report.measured) of \(report.instances) instances measured."
    for policy in report.commands {
      text += " <b>\(HTMLText.escape(policy.name))</b>: \(policy.decisions) decisions, \(policy.commands) commands."
    }
    return text
  }

  private func section(_ kind: BacktestReport.Kind) -> String {
    let perDay = Double(kind.arrivals) / Double(max(1, kind.instanceDays))
    var html =
      "<h2>\(HTMLText.escape(kind.name))</h2>\n<p>\(kind.instances) instances, \(kind.instanceDays) instance-days, "
    html += "\(HTMLText.number(perDay, 0)) visible changes a day</p>\n"
    html += table(kind.plans) + objectiveTable(kind) + screenTable(kind)
    html += "<div class=\"charts\">\n"
    html += SVGChart.bars(
      kind.plans.map {
        SVGChart.Bar(
          name: label($0, of: kind), value: $0.wrongLooks.capturedMean, mark: $0.wrongLooks.capturedP10,
          policy: number($0))
      },
      caption: "wrong looks captured: mean (bar) and p10 (line)")
    var seen: [Int] = []
    for plan in kind.plans where !seen.contains(plan.tokens) {
      seen.append(plan.tokens)
      let rivals = kind.plans.filter { $0.tokens == plan.tokens }
      html += SVGChart.lines(
        rivals.map { SVGChart.Line(name: $0.name, values: $0.tokensLeftByHour, policy: number($0)) },
        top: Double(plan.tokens), xLabels: ["0 h", "6 h", "12 h", "18 h", "24 h"],
        caption: "tokens left of \(plan.tokens), hours since the day's anchor")
      html += SVGChart.lines(
        rivals.map { SVGChart.Line(name: $0.name, values: $0.wrongLooks.capturedTwentieths, policy: number($0)) },
        top: 1, xLabels: ["worst", "25 %", "50 %", "75 %", "best"],
        caption: "wrong looks captured over instance-days, \(plan.tokens) tokens")
    }
    return html + "</div>\n" + exampleSection(kind.example)
  }

  /// Returns the place of a plan among the policies, which selects its colour; nil for a baseline.
  private func number(_ plan: BacktestReport.Plan) -> Int? {
    plan.isPolicy ? report.commands.firstIndex { $0.name == plan.name } : nil
  }

  private func label(_ plan: BacktestReport.Plan, of kind: BacktestReport.Kind) -> String {
    kind.plans.contains { $0.tokens != plan.tokens } ? "\(plan.name), \(plan.tokens)" : plan.name
  }

  private func table(_ plans: [BacktestReport.Plan]) -> String {
    var html =
      "<div class=\"wide\"><table>\n<tr><th>plan<th>tokens<th>captured<th>p10<th>wrong looks<th>freshness<th>p10<th>stale min<th>fresh p50<th>p95"
    html += "<th>never<th>waste<th>unused<th>starved<th>over</tr>\n"
    for plan in plans {
      let waste = plan.reloads > 0 ? Double(plan.reloadsWasted) / Double(plan.reloads) * 100 : 0
      let never =
        plan.criticalChanges > 0
        ? HTMLText.number(Double(plan.criticalNeverShown) / Double(plan.criticalChanges) * 100, 1) + " %" : "–"
      let cells = [
        String(plan.tokens), HTMLText.number(plan.wrongLooks.capturedMean, 3),
        HTMLText.number(plan.wrongLooks.capturedP10, 3), HTMLText.number(plan.wrongLooks.perDay, 2),
        HTMLText.number(plan.capturedMean, 3), HTMLText.number(plan.capturedP10, 3),
        HTMLText.number(plan.staleSecondsPerDay / 60, 0), wait(plan.secondsToFreshP50), wait(plan.secondsToFreshP95),
        never, HTMLText.number(waste, 1) + " %", HTMLText.number(plan.tokensUnusedPerDay, 1),
        String(plan.daysStarved), String(plan.overBudget),
      ]
      html += "<tr\(plan.isPolicy ? " class=\"ours\"" : "")><td>\(HTMLText.escape(plan.name))"
      html += cells.map { "<td>" + $0 }.joined() + "</tr>\n"
    }
    return html + "</table></div>\n"
  }

  private func wait(_ seconds: Double?) -> String {
    guard let seconds else { return "–" }
    if !seconds.isFinite { return "never" }
    return seconds < 60 ? HTMLText.number(seconds, 0) + " s" : HTMLText.number(seconds / 60, 1) + " min"
  }
}

/// The style sheet of a page. Light or dark, as the reader's system is.
private enum PageStyle {
  /// The style sheet.
  static let text = """
    :root { color-scheme: light dark; --ink: #1c1e21; --soft: #63676d; --line: #d9dbde; --ground: #fdfdfc; --ours: #0b6bcb;
      --ours2: #b1400f; --ours3: #1b7f3b; --other: #9a9fa6; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e8e8e6; --soft: #a2a6ab; --line: #3a3e44; --ground: #17191c;
      --ours: #5aa9f5; --ours2: #f09a6b; --ours3: #6fcf8c; --other: #7d838b; } }
    body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 68rem;
      margin: 2rem auto; padding: 0 1rem; }
    h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } .note, figcaption { color: var(--soft); }
    .wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
    th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
    th { color: var(--soft); font-weight: 500; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
    .text { text-align: left; white-space: normal; } h3 { font-size: 1rem; margin-top: 1.5rem; }
    .ours td { font-weight: 600; } .charts { display: flex; flex-wrap: wrap; gap: 1.5rem; margin-top: 1.5rem; }
    figure { margin: 0; flex: 1 1 28rem; min-width: 0; max-width: 34rem; } figcaption { font-size: .85rem; margin-bottom: .3rem; }
    svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 12px; }
    svg .soft { fill: var(--soft); } svg .axis { stroke: var(--line); } svg .mark { stroke: var(--ink); stroke-width: 2; }
    svg .o0 { --c: var(--ours); } svg .o1 { --c: var(--ours2); } svg .o2 { --c: var(--ours3); } svg .b { --c: var(--other); }
    svg rect { fill: var(--c); } svg .look { fill: var(--line); } svg polyline { fill: none; stroke: var(--c); stroke-width: 2.4; }
    svg .b polyline { stroke-width: 1.4; } svg .d1 polyline { stroke-dasharray: 6 3; } svg .d2 polyline { stroke-dasharray: 2 3; }
    svg .d3 polyline { stroke-dasharray: 8 3 2 3; } svg .d4 polyline { stroke-dasharray: 1 5; }
    """
}
