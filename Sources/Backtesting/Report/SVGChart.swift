/// The charts of a page, as SVG. Their colours come from the classes of `PageStyle`: `o0`…`o2` for policies, `b` for
/// baselines.
enum SVGChart {
  /// A horizontal bar with a mark.
  struct Bar {
    /// The name to the left of the bar.
    var name: String
    /// The length of the bar, 0…1.
    var value: Double
    /// The position of the mark, 0…1.
    var mark: Double
    /// The place of the policy among the policies; nil for a baseline.
    var policy: Int?
  }

  /// A line over evenly spaced points.
  struct Line {
    /// The name in the legend.
    var name: String
    /// The values, from left to right.
    var values: [Double]
    /// The place of the policy among the policies; nil for a baseline.
    var policy: Int?
  }

  /// Returns a chart of horizontal bars from 0 to 1.
  static func bars(_ bars: [Bar], caption: String) -> String {
    let left = 170.0
    let width = 320.0
    let height = Double(bars.count) * 24 + 26
    var svg = ""
    for step in 0...4 {
      let x = left + width * Double(step) / 4
      svg += "<line class=\"axis\" x1=\"\(x)\" y1=\"0\" x2=\"\(x)\" y2=\"\(height - 22)\"/>"
      svg += text(HTMLText.number(Double(step) / 4, 2), x: x, y: height - 6, anchor: "middle", soft: true)
    }
    for (place, bar) in bars.enumerated() {
      let y = Double(place) * 24 + 2
      svg += "<g class=\"\(bar.policy.map { "o\($0 % 3)" } ?? "b")\">"
      svg += text(bar.name, x: left - 8, y: y + 14, anchor: "end")
      let length = width * max(0, min(1, bar.value))
      svg += "<rect x=\"\(left)\" y=\"\(y)\" width=\"\(HTMLText.number(length, 1))\" height=\"18\" rx=\"2\"/>"
      let mark = HTMLText.number(left + width * max(0, min(1, bar.mark)), 1)
      svg += "<line class=\"mark\" x1=\"\(mark)\" y1=\"\(y)\" x2=\"\(mark)\" y2=\"\(y + 18)\"/>"
      svg += text(HTMLText.number(bar.value, 2), x: left + width + 8, y: y + 14, anchor: "start") + "</g>"
    }
    return figure(svg, width: left + width + 50, height: height, caption: caption)
  }

  /// Returns a chart of lines with a legend below.
  /// - Parameters:
  ///   - lines: The lines.
  ///   - top: The value at the top of the chart; the bottom is 0.
  ///   - xLabels: The labels below the chart, evenly spaced.
  ///   - caption: The text above the chart.
  static func lines(_ lines: [Line], top: Double, xLabels: [String], caption: String) -> String {
    let left = 34.0
    let width = 470.0
    let height = 200.0
    var svg = ""
    for step in 0...4 {
      let y = 8 + height * (1 - Double(step) / 4)
      svg += "<line class=\"axis\" x1=\"\(left)\" y1=\"\(y)\" x2=\"\(left + width)\" y2=\"\(y)\"/>"
      svg += text(
        HTMLText.number(top * Double(step) / 4, top > 1 ? 0 : 2), x: left - 6, y: y + 4, anchor: "end", soft: true)
    }
    for (place, label) in xLabels.enumerated() {
      let x = left + width * Double(place) / Double(max(1, xLabels.count - 1))
      let anchor = place == 0 ? "start" : place == xLabels.count - 1 ? "end" : "middle"
      svg += text(label, x: x, y: height + 24, anchor: anchor, soft: true)
    }
    var others = 0
    // Policies are drawn last, on top of the baselines.
    for (place, line) in lines.enumerated().sorted(by: { $0.element.policy == nil && $1.element.policy != nil }) {
      let style = line.policy.map { "o\($0 % 3)" } ?? "b d\(others % 5)"
      if line.policy == nil { others += 1 }
      let points = line.values.enumerated().map { index, value in
        let x = left + width * Double(index) / Double(max(1, line.values.count - 1))
        let y = 8 + height * (1 - max(0, min(1, value / top)))
        return "\(HTMLText.number(x, 1)),\(HTMLText.number(y, 1))"
      }
      let legendX = left + Double(place % 3) * 165
      let legendY = height + 46 + Double(place / 3) * 18
      svg += "<g class=\"\(style)\"><polyline points=\"\(points.joined(separator: " "))\"/>"
      svg += "<polyline points=\"\(legendX),\(legendY - 4) \(legendX + 24),\(legendY - 4)\"/>"
      svg += text(line.name, x: legendX + 30, y: legendY, anchor: "start") + "</g>"
    }
    return figure(
      svg, width: left + width + 10, height: height + 40 + Double((lines.count + 2) / 3) * 18, caption: caption)
  }

  /// Returns a chart of columns from 0 to 1, one for each local hour.
  static func columns(_ values: [Double], caption: String) -> String {
    let width = 470.0
    var svg = ""
    for (hour, value) in values.enumerated() {
      let x = width * Double(hour) / Double(values.count)
      let height = 110 * max(0, min(1, value))
      svg += "<g class=\"o0\"><rect x=\"\(HTMLText.number(x + 1, 1))\" y=\"\(HTMLText.number(112 - height, 1))\" "
      svg +=
        "width=\"\(HTMLText.number(width / Double(values.count) - 3, 1))\" height=\"\(HTMLText.number(height, 1))\"/></g>"
      if hour % 3 == 0 { svg += text(String(hour), x: x + 8, y: 130, anchor: "middle", soft: true) }
    }
    return "<div class=\"charts\">" + figure(svg, width: width, height: 136, caption: caption) + "</div>\n"
  }

  static func text(_ text: String, x: Double, y: Double, anchor: String, soft: Bool = false) -> String {
    "<text x=\"\(HTMLText.number(x, 1))\" y=\"\(HTMLText.number(y, 1))\" text-anchor=\"\(anchor)\""
      + (soft ? " class=\"soft\"" : "") + ">\(HTMLText.escape(text))</text>"
  }

  static func figure(_ svg: String, width: Double, height: Double, caption: String) -> String {
    "<figure><figcaption>\(HTMLText.escape(caption))</figcaption><svg viewBox=\"0 0 \(width) \(height)\" role=\"img\" "
      + "aria-label=\"\(HTMLText.escape(caption))\">\(svg)</svg></figure>\n"
  }
}

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
