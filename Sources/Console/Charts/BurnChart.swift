import Auditing
import Domain

/// Draws the part of each kind's error budget that was spent up to each hour, against the pace at which it just lasts.
enum BurnChart {
  private static let (width, left, right, rowHeight) = (900.0, 160.0, 800.0, 64.0)
  /// The most kinds in a drawing.
  private static let kindsMax = 8

  /// Returns the drawing; nil if no kind had a change.
  ///
  /// - Parameters:
  ///   - kinds: The changes of each kind in the hours that are drawn, with the share of its objective.
  ///   - time: Writes the times.
  static func drawing(_ kinds: [(hours: ObjectiveHours, share: Double)], _ time: PageTime) -> Markup? {
    let drawn = kinds.filter { $0.hours.hours.contains { $0.changes > 0 } }.prefix(kindsMax)
    guard let start = drawn.first?.hours.hours.first?.start, let end = drawn.first?.hours.hours.last?.start else {
      return nil
    }
    let height = Double(drawn.count) * rowHeight + 24
    var svg = SVGWriter(
      id: "burn", width: width, height: height, title: "Error budget spent up to each hour",
      details: drawn.map { "\($0.hours.kind): \(Figure.percent(spent($0.hours, $0.share).last ?? 0))" }
        .joined(separator: "; ") + ". On the straight line the budget lasts exactly.")
    let axis = TimeAxis(start, end + .hours(1), left: left, right: right)
    axis.draw(&svg, top: 4, bottom: height - 22, time)
    for (row, kind) in drawn.enumerated() {
      draw(kind.hours, spent(kind.hours, kind.share), axis, Double(row + 1) * rowHeight - 4, &svg)
    }
    return svg.markup
  }

  /// Returns the part of the budget of all hours that was spent at the end of each.
  private static func spent(_ kind: ObjectiveHours, _ share: Double) -> [Double] {
    let budget = Double(kind.hours.reduce(0) { $0 + $1.changes }) * (1 - share)
    var missed = 0.0
    return kind.hours.map { hour in
      missed += Double(hour.missed)
      return budget > 0 ? missed / budget : 0
    }
  }

  private static func draw(
    _ kind: ObjectiveHours, _ spent: [Double], _ axis: TimeAxis, _ bottom: Double, _ svg: inout SVGWriter
  ) {
    let full = max(1, spent.last ?? 0)
    let scale = (rowHeight - 14) / full
    let points =
      [(x: axis.left, y: bottom)]
      + zip(kind.hours, spent).map { (x: axis.x($0.start + .hours(1)), y: bottom - $1 * scale) }
    svg.path(points + [(axis.right, bottom)], isClosed: true, "area")
    svg.path([(axis.left, bottom), (axis.right, bottom - scale)], "axis")
    if full > 1 { svg.line(x1: axis.left, y1: bottom - scale, x2: axis.right, y2: bottom - scale, "limit") }
    svg.path(points, "curve")
    let name = kind.kind.text
    svg.text(name.count > 22 ? "\(name.prefix(21))…" : name, x: axis.left - 8, y: bottom - 2, anchor: .end, "strong")
    svg.text(Figure.percent(spent.last ?? 0), x: axis.right + 8, y: bottom - 2, "strong")
  }
}
