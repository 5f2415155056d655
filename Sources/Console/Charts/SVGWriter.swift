/// Markup that the console has made, and that templates take over as it is.
struct Markup: Sendable, Equatable {
  /// The markup.
  let text: String

  /// Only a writer of markup makes it, so that no text from outside becomes any.
  fileprivate init(text: String) { self.text = text }
}

/// Writes a drawing as SVG. Texts are escaped; colours come from the style sheet, by classes.
struct SVGWriter {
  /// The side of a point at which a text ends or begins.
  enum TextAnchor: String { case start, middle, end }

  private var body = ""
  private let head: String

  /// Begins a drawing.
  ///
  /// - Parameters:
  ///   - id: The id of the drawing, which is unique on its page.
  ///   - width: The width in units.
  ///   - height: The height in units.
  ///   - title: The title, for people who do not see the drawing.
  ///   - details: The content in words, likewise.
  init(id: String, width: Double, height: Double, title: String, details: String) {
    let id = PageText.escaped(id)
    head = """
      <svg class="chart" role="img" aria-labelledby="\(id)-title \(id)-details" viewBox="0 0 \(Self.number(width)) \
      \(Self.number(height))" xmlns="http://www.w3.org/2000/svg"><title id="\(id)-title">\(PageText.escaped(title))\
      </title><desc id="\(id)-details">\(PageText.escaped(details))</desc>
      """
  }

  /// Draws a rectangle.
  mutating func rectangle(x: Double, y: Double, width: Double, height: Double, _ style: String) {
    body +=
      "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(max(0, width)))\" height=\"\(Self.number(max(0, height)))\" class=\"\(style)\"/>"
  }

  /// Draws a line.
  mutating func line(x1: Double, y1: Double, x2: Double, y2: Double, _ style: String) {
    body +=
      "<line x1=\"\(Self.number(x1))\" y1=\"\(Self.number(y1))\" x2=\"\(Self.number(x2))\" y2=\"\(Self.number(y2))\" class=\"\(style)\"/>"
  }

  /// Draws a circle.
  mutating func circle(x: Double, y: Double, radius: Double, _ style: String) {
    body +=
      "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"\(Self.number(radius))\" class=\"\(style)\"/>"
  }

  /// Draws straight lines from point to point.
  mutating func path(_ points: [(x: Double, y: Double)], isClosed: Bool = false, _ style: String) {
    guard !points.isEmpty else { return }
    let steps = points.enumerated().map { "\($0 == 0 ? "M" : "L")\(Self.number($1.x)) \(Self.number($1.y))" }
    body += "<path d=\"\(steps.joined())\(isClosed ? "Z" : "")\" class=\"\(style)\"/>"
  }

  /// Writes a text.
  mutating func text(_ text: String, x: Double, y: Double, anchor: TextAnchor = .start, _ style: String = "label") {
    body +=
      "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor.rawValue)\" class=\"\(style)\">\(PageText.escaped(text))</text>"
  }

  /// The drawing.
  var markup: Markup { Markup(text: head + body + "</svg>") }

  /// Returns a bar for a cell of a table, which screen readers pass over: the cell's number says the same.
  ///
  /// - Parameters:
  ///   - share: The filled share, 0 to 1.
  ///   - style: The class of the filled part.
  static func bar(_ share: Double, _ style: String) -> Markup {
    let width = min(max(share.isFinite ? share : 0, 0), 1) * 120
    return Markup(
      text:
        "<svg class=\"meter\" aria-hidden=\"true\" viewBox=\"0 0 120 8\" preserveAspectRatio=\"none\"><rect width=\"120\" height=\"8\" class=\"track\"/><rect width=\"\(number(width))\" height=\"8\" class=\"\(style)\"/></svg>"
    )
  }

  /// Returns a number with at most two decimals.
  private static func number(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e7 else { return "0" }
    let hundredths = Int((value * 100).rounded())
    let (whole, rest) = (abs(hundredths) / 100, abs(hundredths) % 100)
    let sign = hundredths < 0 ? "-" : ""
    if rest == 0 { return "\(sign)\(whole)" }
    return "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest % 10 == 0 ? rest / 10 : rest)"
  }
}
