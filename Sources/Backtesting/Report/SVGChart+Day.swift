/// The chart of one day: steps over the hours, with the looks as columns behind them and the reloads as marks below.
extension SVGChart {
  /// A curve of a day.
  struct DayCurve {
    /// The name in the legend.
    var name: String
    /// The steps, from left to right.
    var steps: [ExampleDay.Step]
    /// The place of the policy among the policies; nil for a curve that is no policy's.
    var policy: Int?
  }

  private static let left = 34.0
  private static let width = 470.0
  private static let height = 200.0

  /// Returns the chart of a day.
  /// - Parameters:
  ///   - curves: The curves.
  ///   - looks: The looks in equal parts of the day. The largest reaches a third of the height.
  ///   - reloads: The places of the reloads, 0…1.
  ///   - top: The value at the top; nil takes the largest of the curves.
  ///   - caption: The text above the chart.
  static func day(
    _ curves: [DayCurve], looks: [Double], reloads: [Double], top: Double? = nil, caption: String
  ) -> String {
    let values = curves.flatMap { $0.steps.map(\.value) }
    let least = min(0, values.min() ?? 0)
    let most = max(top ?? values.max() ?? 1, least + 1e-9)
    var svg = axes(from: least, to: most) + columns(looks)
    for (place, curve) in curves.enumerated() {
      svg +=
        "<g class=\"\(curve.policy.map { "o\($0 % 3)" } ?? "b")\"><polyline points=\"\(points(curve.steps, least, most))\"/>"
      let x = left + Double(place) * 200
      svg += "<polyline points=\"\(x),\(height + 42) \(x + 24),\(height + 42)\"/>"
      svg += text(curve.name, x: x + 30, y: height + 46, anchor: "start") + "</g>"
    }
    for reload in reloads {
      let x = HTMLText.number(left + width * reload, 1)
      svg += "<line class=\"mark\" x1=\"\(x)\" y1=\"\(height + 2)\" x2=\"\(x)\" y2=\"\(height + 8)\"/>"
    }
    return figure(svg, width: left + width + 10, height: height + 56, caption: caption)
  }

  private static func axes(from least: Double, to most: Double) -> String {
    var svg = ""
    for step in 0...4 {
      let y = 8 + height * (1 - Double(step) / 4)
      svg += "<line class=\"axis\" x1=\"\(left)\" y1=\"\(y)\" x2=\"\(left + width)\" y2=\"\(y)\"/>"
      let value = least + (most - least) * Double(step) / 4
      svg += text(HTMLText.number(value, most - least > 4 ? 0 : 2), x: left - 6, y: y + 4, anchor: "end", soft: true)
      let x = left + width * Double(step) / 4
      svg += text(
        "\(step * 6) h", x: x, y: height + 24, anchor: step == 0 ? "start" : step == 4 ? "end" : "middle", soft: true)
    }
    return svg
  }

  private static func columns(_ looks: [Double]) -> String {
    guard let most = looks.max(), most > 0 else { return "" }
    let step = width / Double(looks.count)
    return looks.enumerated().map { place, share in
      let tall = height / 3 * share / most
      return "<rect class=\"look\" x=\"\(HTMLText.number(left + step * Double(place), 1))\" "
        + "y=\"\(HTMLText.number(8 + height - tall, 1))\" width=\"\(HTMLText.number(step - 1, 1))\" "
        + "height=\"\(HTMLText.number(tall, 1))\"/>"
    }.joined()
  }

  /// Returns the corners of a curve, to the end of the day.
  private static func points(_ steps: [ExampleDay.Step], _ least: Double, _ most: Double) -> String {
    var points: [String] = []
    var before: String?
    for step in steps {
      let x = HTMLText.number(left + width * step.at, 1)
      let y = HTMLText.number(8 + height * (1 - min(1, (step.value - least) / (most - least))), 1)
      if let before { points.append("\(x),\(before)") }
      points.append("\(x),\(y)")
      before = y
    }
    if let before { points.append("\(HTMLText.number(left + width, 1)),\(before)") }
    return points.joined(separator: " ")
  }
}
