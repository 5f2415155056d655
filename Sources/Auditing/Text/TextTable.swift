import Domain

/// A table of text with aligned columns. Cells are escaped. Lines have no trailing spaces.
struct TextTable {
  enum Alignment { case left, right }
  let alignments: [Alignment]
  private var rows: [[PrintableText]] = []

  /// - Parameters:
  ///   - header: the first row; empty for a table without one.
  ///   - alignments: one for each column.
  init(_ header: [String] = [], _ alignments: [Alignment]) {
    self.alignments = alignments
    if !header.isEmpty { rows.append(header.map { PrintableText(escaping: $0) }) }
  }

  /// Adds a row with at most as many cells as there are columns.
  mutating func add(_ cells: String...) { add(cells) }

  /// Adds a row with at most as many cells as there are columns.
  mutating func add(_ cells: [String]) { rows.append(cells.map { PrintableText(escaping: $0) }) }

  /// The rows as lines, each ending in a line feed.
  func text(indent: Int = 0) -> PrintableText {
    var widths = alignments.map { _ in 0 }
    for row in rows {
      for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
    }
    var text: PrintableText = ""
    for row in rows {
      var line = PrintableText.spaces(indent).description
      for (column, cell) in row.enumerated() {
        let space = PrintableText.spaces(widths[column] - cell.count).description
        line += column == 0 ? "" : "  "
        line += alignments[column] == .right ? space + cell.description : cell.description + space
      }
      while line.last == " " { line.removeLast() }
      text += "\(line)\n"
    }
    return text
  }
}
