import Domain

/// The axis of time below a drawing.
struct TimeAxis {
  /// The first and the last time.
  let first, last: Timestamp
  /// The x of the first and of the last time.
  let left, right: Double

  /// The distances between marks that people count in.
  private static let steps: [TimeSpan] = [
    .minutes(1), .minutes(5), .minutes(15), .minutes(30), .hours(1), .hours(2), .hours(3), .hours(6), .hours(12),
    .hours(24),
    .hours(48), .hours(24 * 7), .hours(24 * 30), .hours(24 * 365), .hours(24 * 3650),
  ]

  /// The width of a mark with a date, in the units of a drawing.
  private static let markWidth = 57.0

  /// Makes an axis. It covers a minute at least.
  init(_ first: Timestamp, _ last: Timestamp, left: Double, right: Double) {
    self.first = first
    self.last = max(last, first + .minutes(1))
    self.left = left
    self.right = right
  }

  /// Returns the x of a time.
  func x(_ time: Timestamp) -> Double {
    let share = Double((time - first).microseconds) / Double((last - first).microseconds)
    return left + min(max(share, 0), 1) * (right - left)
  }

  /// Draws the marks with their times.
  ///
  /// - Parameters:
  ///   - svg: Gets the marks.
  ///   - top: The y at which the lines begin.
  ///   - bottom: The y at which they end.
  ///   - time: Writes the times.
  func draw(_ svg: inout SVGWriter, top: Double, bottom: Double, _ time: PageTime) {
    let span = last - first
    let marksMax = Int64(min(12, max(1, (right - left) / Self.markWidth)))
    let step = Self.steps.first { $0 * marksMax >= span } ?? span
    // Marks stand at whole hours and days of the clocks in the zone, also behind a change to summer time.
    var local = first + time.offset(at: first)
    let rest = ((local.microseconds % step.microseconds) + step.microseconds) % step.microseconds
    local = local + TimeSpan(microseconds: rest == 0 ? 0 : step.microseconds - rest)
    var isFirst = true
    for _ in 0..<14 {
      let at = time.instant(local)
      local = local + step
      guard at <= last else { break }
      guard at >= first else { continue }
      svg.line(x1: x(at), y1: top, x2: x(at), y2: bottom, "axis")
      let text = step >= .hours(24) ? time.date(at) : time.mark(at, isFirst: isFirst)
      isFirst = false
      svg.text(text, x: x(at), y: bottom + 14, anchor: .middle)
    }
  }
}
