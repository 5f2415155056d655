/// A table of text with aligned columns. Lines have no trailing spaces.
struct TextTable {
  enum Alignment { case left, right }
  let alignments: [Alignment]
  private var rows: [[String]] = []

  /// - Parameters:
  ///   - header: the first row; empty for a table without one.
  ///   - alignments: one for each column.
  init(_ header: [String] = [], _ alignments: [Alignment]) {
    self.alignments = alignments
    if !header.isEmpty { rows.append(header) }
  }

  /// Adds a row with at most as many cells as there are columns.
  mutating func add(_ cells: String...) { rows.append(cells) }

  /// The rows as lines, each ending in a line feed.
  func text(indent: Int = 0) -> String {
    var widths = alignments.map { _ in 0 }
    for row in rows {
      for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
    }
    var text = ""
    for row in rows {
      var line = String(repeating: " ", count: indent)
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? "" : "  "
        line += alignments[column] == .right ? space + cell : cell + space
      }
      while line.last == " " { line.removeLast() }
      text += line + "\n"
    }
    return text
  }
}
