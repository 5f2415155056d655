import Auditing
import Domain

/// A text on a page, perhaps with a link, a tone and a second line: the content of a cell of a table, or a part of a paragraph.
struct PageCell: ExpressibleByStringInterpolation {
  /// The tones of a text. Each is a class of the style sheet.
  enum Tone: String {
    case emit, `defer`, coalesce, suppress, dim, code, source, bad, good
  }

  var text: String
  /// The address that the text leads to; nil for none.
  var link: String?
  var tone: Tone?
  /// A second line in small letters; nil for none.
  var detail: String?
  /// Whether the cell is aligned to the right.
  var isNumber = false
  /// A drawing behind the text.
  var drawing: Markup?
  /// The number that the text shows, for CSV; nil for a text.
  var figure: AnswerTable.Cell?

  /// Makes a text.
  init(
    _ text: String, link: String? = nil, tone: Tone? = nil, detail: String? = nil, isNumber: Bool = false,
    drawing: Markup? = nil
  ) {
    self.text = text
    self.link = link
    self.tone = tone
    self.detail = detail
    self.isNumber = isNumber
    self.drawing = drawing
  }

  /// Makes a text without a link.
  init(stringLiteral value: String) { self.init(value) }

  /// Returns a number with separators of thousands.
  static func number(_ value: Int, link: String? = nil) -> PageCell {
    var cell = PageCell(Figure.grouped(Int64(value)), link: link, isNumber: true)
    cell.figure = .integer(value)
    return cell
  }

  /// Returns a number with decimals.
  static func decimal(_ value: Double) -> PageCell {
    var cell = PageCell(Figure.decimal(value), isNumber: true)
    cell.figure = .number(value)
    return cell
  }

  /// Returns a share in percent with a bar.
  static func share(_ part: Int, of whole: Int, _ tone: Tone) -> PageCell {
    share(whole > 0 ? Double(part) / Double(whole) : 0, tone)
  }

  /// Returns a share of 1 in percent with a bar.
  static func share(_ share: Double, _ tone: Tone) -> PageCell {
    var cell = PageCell(Figure.percent(share), isNumber: true, drawing: SVGWriter.bar(share, tone.rawValue))
    cell.figure = .number(share)
    return cell
  }

  /// Returns a verdict.
  static func verdict(_ verdict: Verdict) -> PageCell { PageCell(verdict.rawValue, tone: Tone(verdict)) }

  /// Returns a reason, with its meaning below.
  static func reason(_ reason: Reason, link: String? = nil, isExplained: Bool = false) -> PageCell {
    PageCell(
      reason.rawValue, link: link, tone: .code,
      detail: isExplained ? reason.meaning.replacing("`", with: "") : nil)
  }

  /// The content without its form, for CSV.
  var plain: AnswerTable.Cell {
    if let figure { return figure }
    if isNumber, let number = Int(text) { return .integer(number) }
    return text.isEmpty ? .none : .text(text)
  }

  /// The values for a template.
  var values: PageValues {
    PageValues([
      "text": .text(text), "href": link.map { .text($0) }, "tone": tone.map { .text($0.rawValue) },
      "detail": detail.map { .text($0) }, "isNumber": .flag(isNumber), "drawing": drawing.map { .markup($0) },
    ])
  }
}

extension PageCell.Tone {
  /// The tone of a verdict.
  init(_ verdict: Verdict) {
    switch verdict {
    case .emit: self = .emit
    case .defer: self = .defer
    case .coalesce: self = .coalesce
    case .suppress: self = .suppress
    }
  }
}
