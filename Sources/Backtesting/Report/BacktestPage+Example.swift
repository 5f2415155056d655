import Domain

/// The charts of one day of one instance.
extension BacktestPage {
  /// Returns the charts of a day: the truth and the content that was shown, how wrong the screen was, and the looks.
  /// - Parameter example: The day; nil returns nothing.
  func exampleSection(_ example: ExampleDay?) -> String {
    guard let example else { return "" }
    var html = "<h3>One day: \(HTMLText.escape(example.instance.text)) of \(HTMLText.escape(example.device.text)), "
    html +=
      "\(example.date)</h3>\n<p class=\"note\">The median day of \(HTMLText.escape(example.plan)), which set right "
    html += "\(HTMLText.number(example.captured * 100, 1)) % of the wrong looks that could be. Marks at the bottom are "
    html += "reloads; columns are looks.</p>\n<div class=\"charts\">\n"
    if let number = example.number {
      html += SVGChart.day(
        [
          SVGChart.DayCurve(name: "truth", steps: number.truth, policy: nil),
          SVGChart.DayCurve(name: "shown", steps: number.shown, policy: 0),
        ], looks: example.looks, reloads: example.reloads,
        caption: "\(number.field.text): truth and shown, hours since the day's anchor")
    }
    html += SVGChart.day(
      [
        SVGChart.DayCurve(name: "without paid reloads", steps: example.wrongWithout, policy: nil),
        SVGChart.DayCurve(name: example.plan, steps: example.wrong, policy: 0),
      ], looks: example.looks, reloads: example.reloads, top: 1,
      caption: "how wrong the screen was, 1 is as wrong as can be; hours since the day's anchor")
    return html + "</div>\n"
  }
}
