import Auditing
import Domain

/// Draws the terms of a decision: how relevant the event was, what a push was worth beside its price, and the tokens that were left. A decision
/// that was not weighed has no worth and no price, and says so.
struct TermsChart {
  private static let (width, left, right, rowHeight) = (900.0, 190.0, 720.0, 26.0)
  /// The most tokens that are drawn one by one.
  /// - Beyond: the bar is full, and the number beside it tells how many there are.
  private static let tokensMax = 30

  private let decision: Decision
  private var svg: SVGWriter
  private var row = 0

  /// Returns the drawing.
  ///
  /// - Parameters:
  ///   - decision: The decision.
  ///   - id: The id of the drawing.
  static func drawing(_ decision: Decision, id: String) -> Markup {
    var chart = TermsChart(decision, id: id)
    chart.bar("relevance", decision.relevance, of: 1, Figure.decimal(decision.relevance), "coalesce")
    if isWeighed(decision) { chart.worth() } else { chart.unweighed() }
    for level in levels(decision) { chart.tokens(level) }
    return chart.svg.markup
  }

  private init(_ decision: Decision, id: String) {
    self.decision = decision
    let worth = Self.isWeighed(decision) ? Self.worthRows(decision).count + 1 : 1
    svg = SVGWriter(
      id: id, width: Self.width, height: Double(worth + 4) * Self.rowHeight + 28,
      title: "Relevance, worth, price and limits", details: Self.words(decision))
  }

  /// The terms in words.
  private static func words(_ decision: Decision) -> String {
    let worth =
      isWeighed(decision)
      ? worthRows(decision).map { "\($0.name): \(Figure.decimal($0.value)) looks" }
      : ["worth and price: not weighed, because \(decision.reason.rawValue) came first"]
    let tokens = levels(decision).map { "\($0.name): \($0.words)\($0.isHolding ? ", which held it back" : "")" }
    return (["relevance: \(Figure.decimal(decision.relevance)) of 1"] + worth + tokens).joined(separator: "; ") + "."
  }

  private static func isWeighed(_ decision: Decision) -> Bool {
    decision.isWeighed && decision.value.isFinite && decision.price.isFinite
  }

  // MARK: Worth and price

  private static func worthRows(_ decision: Decision) -> [(name: String, value: Double, style: String)] {
    var rows: [(name: String, value: Double, style: String)] = [("worth of this one", decision.worth, "coalesce")]
    if decision.worthOfOthers > 0 {
      rows.append(("worth of the others", decision.worthOfOthers, "coalesce"))
      rows.append(("worth of the push", decision.value, "emit"))
    }
    rows.append(("price", decision.price, "defer"))
    return rows
  }

  private mutating func worth() {
    let most = max(decision.value, decision.price, 1e-9)
    let top = Double(row) * Self.rowHeight + 2
    for term in Self.worthRows(decision) {
      bar(term.name, term.value, of: most, "\(Figure.decimal(term.value)) looks", term.style)
    }
    let x = Self.left + (Self.right - Self.left) * max(0, decision.price) / most
    let bottom = Double(row) * Self.rowHeight + 4
    svg.line(x1: x, y1: top, x2: x, y2: bottom, "limit")
    svg.text(
      "a push is made from here on", x: min(max(x, Self.left + 70), Self.right - 70), y: bottom + 12, anchor: .middle)
    row += 1
  }

  private mutating func unweighed() {
    name("worth and price")
    svg.text("not weighed: \(decision.reason.rawValue) came first", x: Self.left, y: y + 12)
    row += 1
  }

  // MARK: Limits

  /// The tokens of a level.
  private struct TokenLevel {
    var name: String
    var tokens: Int?
    /// Whether the decision was held back because of this level.
    var isHolding: Bool

    var words: String { tokens.map { Figure.tokens($0) } ?? "not limited, or not counted" }
  }

  private static func levels(_ decision: Decision) -> [TokenLevel] {
    let (left, reason) = (decision.tokensLeft, decision.reason)
    return [
      TokenLevel(
        name: "instance has left", tokens: left.instance, isHolding: [.budgetInstance, .reserveHeld].contains(reason)),
      TokenLevel(name: "device has left", tokens: left.device, isHolding: reason == .budgetDevice),
      TokenLevel(name: "app has left", tokens: left.app, isHolding: reason == .budgetApp),
    ]
  }

  /// Draws a square for each token that is left.
  private mutating func tokens(_ level: TokenLevel) {
    name(level.name)
    let step = (Self.right - Self.left) / Double(Self.tokensMax)
    if let tokens = level.tokens {
      svg.rectangle(x: Self.left, y: y, width: Self.right - Self.left, height: 16, "track")
      if tokens > Self.tokensMax {
        svg.rectangle(x: Self.left, y: y, width: Self.right - Self.left, height: 16, "coalesce")
      } else {
        for place in 0..<max(0, tokens) {
          svg.rectangle(x: Self.left + Double(place) * step, y: y, width: step - 3, height: 16, "coalesce")
        }
      }
    }
    let end = level.isHolding ? "\(level.words): held back" : level.words
    svg.text(end, x: level.tokens == nil ? Self.left : Self.right + 8, y: y + 12, level.isHolding ? "strong" : "label")
    row += 1
  }

  // MARK: Rows

  private var y: Double { Double(row) * Self.rowHeight + 6 }

  private mutating func name(_ name: String) { svg.text(name, x: Self.left - 10, y: y + 12, anchor: .end, "strong") }

  private mutating func bar(_ title: String, _ value: Double, of most: Double, _ words: String, _ style: String) {
    name(title)
    let share = value.isFinite ? min(max(0, value / most), 1) : 0
    svg.rectangle(x: Self.left, y: y, width: Self.right - Self.left, height: 16, "track")
    svg.rectangle(x: Self.left, y: y, width: (Self.right - Self.left) * share, height: 16, style)
    svg.text(words, x: Self.right + 8, y: y + 12)
    row += 1
  }
}
