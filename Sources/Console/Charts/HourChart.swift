import Auditing
import Domain

/// Draws the decisions of each hour by verdict, one bar an hour.
enum HourChart {
  private static let (width, height, left, bottom) = (900.0, 190.0, 52.0, 160.0)

  /// Returns the drawing.
  static func drawing(_ activity: StoreActivity, _ time: PageTime) -> Markup {
    let totals = activity.hours.map { $0.decisions.reduce(0, +) }
    let most = max(1, totals.max() ?? 1)
    let busiest = totals.firstIndex(of: most).map { activity.hours[$0] }
    var svg = SVGWriter(
      id: "hours", width: width, height: height, title: "Decisions by hour",
      details:
        "\(activity.hours.count) bars, one an hour. The highest has \(Figure.grouped(Int64(most))) decisions"
        + (busiest.map { ", in the hour from \(time.text($0.start)) \(time.zone)." } ?? ".")
        + " The table of hours has the numbers.")
    for count in stride(from: 0, through: most, by: roundStep(most)) {
      let y = bottom - Double(count) / Double(most) * 140
      svg.line(x1: left, y1: y, x2: width, y2: y, "axis")
      svg.text(Figure.grouped(Int64(count)), x: left - 6, y: y + 4, anchor: .end)
    }
    let step = (width - left) / Double(max(1, activity.hours.count))
    let marks = [1, 2, 3, 6, 12].first { $0 * 12 >= activity.hours.count } ?? 24
    var isFirst = true
    for (place, hour) in activity.hours.enumerated() {
      let x = left + Double(place) * step
      var y = bottom
      for (verdict, count) in zip(Verdict.allCases, hour.decisions) where count > 0 {
        let part = Double(count) / Double(most) * 140
        y -= part
        svg.rectangle(
          x: x + step * 0.1, y: y, width: step * 0.8, height: part, PageCell.Tone(verdict).rawValue)
      }
      if isMarked(hour.start, time, every: marks) {
        svg.text(time.mark(hour.start, isFirst: isFirst), x: x + step / 2, y: bottom + 16, anchor: .middle)
        isFirst = false
      }
    }
    return svg.markup
  }

  /// Returns the distance of the lines behind the bars: the smallest of 1, 2, 5, 10, 20, 50, … of which the height has at most four.
  private static func roundStep(_ most: Int) -> Int {
    var step = 1
    while true {
      for factor in [1, 2, 5] where most / (step * factor) <= 4 { return step * factor }
      step *= 10
    }
  }

  /// Whether an hour has a mark: every so many hours of the day one has.
  private static func isMarked(_ hour: Timestamp, _ time: PageTime, every hours: Int) -> Bool {
    Int(time.clock(hour).prefix(2)).map { $0 % hours == 0 } ?? false
  }
}
