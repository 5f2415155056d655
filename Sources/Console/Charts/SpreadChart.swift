import Auditing
import Domain

/// Draws the decisions about one event over time.
enum SpreadChart {
  private static let (width, height, left, right, bottom) = (900.0, 140.0, 52.0, 885.0, 110.0)
  /// The most bars.
  private static let barsMax: Int64 = 90

  /// Returns the drawing; nil without a decision.
  static func drawing(_ spread: EventSpread, _ time: PageTime) -> Markup? {
    guard let first = spread.minutes.first?.start, let last = spread.minutes.last?.start else { return nil }
    let minutes = max(1, (last - first).microseconds / 60_000_000 + 1)
    let step = (minutes + barsMax - 1) / barsMax
    var bars = [[Int]](repeating: Verdict.allCases.map { _ in 0 }, count: Int((minutes + step - 1) / step))
    for minute in spread.minutes {
      let place = Int((minute.start - first).microseconds / 60_000_000 / step)
      for (verdict, count) in minute.decisions.enumerated() { bars[place][verdict] += count }
    }
    let most = max(1, bars.map { $0.reduce(0, +) }.max() ?? 1)
    var svg = SVGWriter(
      id: "spread", width: width, height: height, title: "Decisions about the event over time",
      details:
        "Bars of \(Figure.count(Int(step), "minute")) from \(time.text(first)) to \(time.text(last)) \(time.zone); the highest has \(Figure.count(most, "decision"))."
    )
    let axis = TimeAxis(first, first + .minutes(step * Int64(bars.count)), left: left, right: right)
    axis.draw(&svg, top: 8, bottom: bottom, time)
    svg.line(x1: left, y1: bottom, x2: right, y2: bottom, "axis")
    svg.text(Figure.grouped(Int64(most)), x: left - 6, y: 14, anchor: .end)
    let width = (right - left) / Double(bars.count)
    for (place, bar) in bars.enumerated() {
      var y = bottom
      for (verdict, count) in zip(Verdict.allCases, bar) where count > 0 {
        let part = Double(count) / Double(most) * (bottom - 10)
        y -= part
        svg.rectangle(
          x: left + Double(place) * width, y: y, width: min(24, width * 0.85), height: part,
          PageCell.Tone(verdict).rawValue)
      }
    }
    return svg.markup
  }
}
