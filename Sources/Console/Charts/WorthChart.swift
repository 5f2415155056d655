import Auditing
import Domain

/// Draws what a push was worth beside what it cost.
enum WorthChart {
  private static let (width, left, right, rowHeight) = (900.0, 190.0, 780.0, 26.0)

  /// Returns the drawing; nil if the decision was made without weighing.
  ///
  /// - Parameters:
  ///   - decision: The decision.
  ///   - id: The id of the drawing.
  static func drawing(_ decision: Decision, id: String) -> Markup? {
    guard decision.isWeighed, decision.value.isFinite, decision.price.isFinite else { return nil }
    var rows: [(name: String, value: Double, style: String)] = [("worth of this one", decision.worth, "coalesce")]
    if decision.worthOfOthers > 0 {
      rows.append(("worth of the others", decision.worthOfOthers, "coalesce"))
      rows.append(("worth of the push", decision.value, "emit"))
    }
    rows.append(("price", decision.price, "defer"))
    let most = max(decision.value, decision.price, 1e-9)
    var svg = SVGWriter(
      id: id, width: width, height: Double(rows.count) * rowHeight + 24, title: "Worth and price",
      details: rows.map { "\($0.name): \(Figure.decimal($0.value)) looks" }.joined(separator: "; ") + ".")
    for (place, row) in rows.enumerated() {
      let y = Double(place) * rowHeight + 6
      svg.text(row.name, x: left - 10, y: y + 12, anchor: .end, "strong")
      svg.rectangle(x: left, y: y, width: right - left, height: 16, "track")
      svg.rectangle(x: left, y: y, width: (right - left) * max(0, row.value) / most, height: 16, row.style)
      svg.text("\(Figure.decimal(row.value)) looks", x: right + 8, y: y + 12)
    }
    let x = left + (right - left) * max(0, decision.price) / most
    let bottom = Double(rows.count) * rowHeight + 4
    svg.line(x1: x, y1: 2, x2: x, y2: bottom, "limit")
    svg.text("a push is made from here on", x: min(max(x, left + 70), right - 70), y: bottom + 14, anchor: .middle)
    return svg.markup
  }
}
