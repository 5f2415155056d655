import Auditing
import Domain

/// Draws the tokens that were spent up to each hour, for each kind of ledger, against the budget, or against an even pace if that is not known.
enum SpendingChart {
  private static let (width, left, right, rowHeight) = (900.0, 120.0, 735.0, 56.0)

  /// Returns the drawing; nil if no token was spent.
  ///
  /// - Parameters:
  ///   - activity: The hours.
  ///   - budget: The tokens that the policy allows; nil if it is not known.
  ///   - time: Writes the times.
  static func drawing(_ activity: StoreActivity, _ budget: SpendingBudget?, _ time: PageTime) -> Markup? {
    let ledgers = Command.Ledger.allCases.filter { activity.charged($0) > 0 }
    guard !ledgers.isEmpty, let start = activity.hours.first?.start, let end = activity.hours.last?.start else {
      return nil
    }
    let height = Double(ledgers.count) * rowHeight + 24
    var svg = SVGWriter(
      id: "spending", width: width, height: height, title: "Tokens spent up to each hour",
      details: ledgers.map { ledger in
        let allowed = budget?.allowed(ledger).map { " of \(Figure.grouped(Int64($0)))" } ?? ""
        return "\(ledger.rawValue): \(Figure.grouped(Int64(activity.charged(ledger))))\(allowed)"
      }.joined(separator: "; ") + ". A straight line would be an even pace.")
    let axis = TimeAxis(start, end + .hours(1), left: left, right: right)
    axis.draw(&svg, top: 4, bottom: height - 22, time)
    for (row, ledger) in ledgers.enumerated() {
      let bottom = Double(row + 1) * rowHeight - 4
      let allowed = budget?.allowed(ledger).flatMap { $0 > 0 ? $0 : nil }
      draw(ledger, activity, allowed, axis, bottom, &svg)
    }
    return svg.markup
  }

  private static func draw(
    _ ledger: Command.Ledger, _ activity: StoreActivity, _ allowed: Double?, _ axis: TimeAxis, _ bottom: Double,
    _ svg: inout SVGWriter
  ) {
    guard let place = Command.Ledger.allCases.firstIndex(of: ledger) else { return }
    let total = Double(activity.charged(ledger))
    // The higher of the two ends at the top of the row.
    let scale = (rowHeight - 12) / max(total, allowed ?? 0)
    var spent = 0.0
    var points = [(x: axis.left, y: bottom)]
    for hour in activity.hours {
      spent += Double(hour.charged[place])
      points.append((axis.x(hour.start + .hours(1)), bottom - spent * scale))
    }
    svg.path(points + [(axis.right, bottom)], isClosed: true, "area")
    svg.path(
      [(axis.left, bottom), (axis.right, bottom - (allowed ?? total) * scale)], allowed == nil ? "axis" : "limit")
    svg.path(points, "curve")
    svg.text(ledger.rawValue, x: axis.left - 8, y: bottom - 2, anchor: .end, "strong")
    let top = bottom - (rowHeight - 12) + 8
    svg.text(Figure.grouped(Int64(total)), x: axis.right + 8, y: top, "strong")
    if let allowed {
      svg.text(
        "\(Figure.percent(total / allowed)) of \(Figure.grouped(Int64(allowed)))", x: axis.right + 8,
        y: top + 14)
    }
  }
}
