import Auditing
import Domain

/// Draws the tokens that were spent up to each hour, for each kind of ledger, against an even pace.
enum SpendingChart {
  private static let (width, left, right, rowHeight) = (900.0, 120.0, 800.0, 56.0)

  /// Returns the drawing; nil if no token was spent.
  static func drawing(_ activity: StoreActivity, _ time: PageTime) -> Markup? {
    let ledgers = Command.Ledger.allCases.filter { activity.charged($0) > 0 }
    guard !ledgers.isEmpty, let start = activity.hours.first?.start, let end = activity.hours.last?.start else {
      return nil
    }
    let height = Double(ledgers.count) * rowHeight + 24
    var svg = SVGWriter(
      id: "spending", width: width, height: height, title: "Tokens spent up to each hour",
      details: ledgers.map { "\($0.rawValue): \(Figure.grouped(Int64(activity.charged($0))))" }.joined(separator: "; ")
        + ". A straight line would be an even pace.")
    let axis = TimeAxis(start, end + .hours(1), left: left, right: right)
    axis.draw(&svg, top: 4, bottom: height - 22, time)
    for (row, ledger) in ledgers.enumerated() {
      let bottom = Double(row + 1) * rowHeight - 4
      draw(ledger, activity, axis, bottom, &svg)
    }
    return svg.markup
  }

  private static func draw(
    _ ledger: Command.Ledger, _ activity: StoreActivity, _ axis: TimeAxis, _ bottom: Double, _ svg: inout SVGWriter
  ) {
    guard let place = Command.Ledger.allCases.firstIndex(of: ledger) else { return }
    let total = Double(activity.charged(ledger))
    var spent = 0.0
    var points = [(x: axis.left, y: bottom)]
    for hour in activity.hours {
      spent += Double(hour.charged[place])
      points.append((axis.x(hour.start + .hours(1)), bottom - spent / total * (rowHeight - 12)))
    }
    svg.path(points + [(axis.right, bottom)], isClosed: true, "area")
    svg.path([(axis.left, bottom), (axis.right, bottom - (rowHeight - 12))], "axis")
    svg.path(points, "curve")
    svg.text(ledger.rawValue, x: axis.left - 8, y: bottom - 2, anchor: .end, "strong")
    svg.text(Figure.grouped(Int64(total)), x: axis.right + 8, y: bottom - (rowHeight - 12) + 8, "strong")
  }
}
