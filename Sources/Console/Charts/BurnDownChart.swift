import Auditing
import Domain

/// Draws the tokens that one ledger had left over time.
enum BurnDownChart {
  private static let (width, height, left, right, bottom) = (900.0, 120.0, 60.0, 885.0, 92.0)

  /// Returns the drawing.
  ///
  /// - Parameters:
  ///   - account: The account.
  ///   - place: The place of the drawing on its page.
  ///   - time: Writes the times.
  static func drawing(_ account: BudgetStatement.Account, _ place: Int, _ time: PageTime) -> Markup {
    let most = max(1, account.opening, account.lines.map(\.left).max() ?? 0)
    let (first, last) = (account.lines.first?.at ?? Timestamp(microseconds: 0), account.lines.last?.at)
    var svg = SVGWriter(
      id: "account-\(place)", width: width, height: height,
      title: "Tokens left of \(account.ledger.rawValue) \(account.owner)",
      details:
        "From \(account.opening) before the first charge at \(time.text(first)) to \(account.closing) after the last one at \(time.text(last ?? first)) \(time.zone), in \(account.lines.count) charges."
    )
    let axis = TimeAxis(first, last ?? first, left: left, right: right)
    axis.draw(&svg, top: 8, bottom: bottom, time)
    func y(_ tokens: Int) -> Double { bottom - Double(max(0, tokens)) / Double(most) * (bottom - 12) }
    for tokens in Set([0, most]).sorted() {
      svg.line(x1: left, y1: y(tokens), x2: right, y2: y(tokens), tokens == 0 ? "limit" : "axis")
      svg.text("\(tokens)", x: left - 8, y: y(tokens) + 4, anchor: .end)
    }
    var points: [(x: Double, y: Double)] = [(axis.left, y(account.opening))]
    for line in account.lines {
      let x = axis.x(line.at)
      // The tokens that came in since the last charge show right before this one.
      if let before = points.last?.y { points.append((x, before)) }
      points.append((x, y(line.left.addingSaturating(1))))
      points.append((x, y(line.left)))
    }
    svg.path(points, "curve")
    return svg.markup
  }
}
