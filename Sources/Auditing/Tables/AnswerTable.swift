import Domain
import JSON

/// An answer as rows under named columns, for spreadsheets and for programs that read line by line.
public struct AnswerTable: Equatable, Sendable {
  /// The value of a row in a column.
  public enum Cell: Equatable, Sendable {
    case text(String)
    case integer(Int)
    case number(Double)
    case bool(Bool)
    /// Nothing is known.
    case none

    /// Makes a cell of a text; nil makes an empty one.
    static func text(_ name: Identifier?) -> Cell { name.map { .text($0.text) } ?? .none }
    /// Makes a cell of a time; nil makes an empty one.
    static func time(_ time: Timestamp?) -> Cell { time.map { .text(Figure.time($0)) } ?? .none }
    /// Makes a cell of an integer; nil makes an empty one.
    static func integer(_ value: Int?) -> Cell { value.map { .integer($0) } ?? .none }
    /// Makes a cell of several texts, divided by spaces.
    static func list(_ texts: some Sequence<Identifier>) -> Cell { .text(texts.map(\.text).joined(separator: " ")) }
  }

  /// The names of the columns.
  public let columns: [StaticString]
  /// The rows, each with a cell for each column.
  public var rows: [[Cell]]

  /// Makes a table.
  ///
  /// - Parameters:
  ///   - columns: The names of the columns.
  ///   - rows: The rows, each with a cell for each column.
  package init(_ columns: [StaticString], _ rows: [[Cell]]) {
    self.columns = columns
    self.rows = rows
  }

  public static func == (a: AnswerTable, b: AnswerTable) -> Bool {
    a.rows == b.rows && a.columns.map(\.description) == b.columns.map(\.description)
  }

  // MARK: CSV (RFC 4180)

  /// The table as CSV: a line with the names of the columns, then a line for each row. Lines end with CR LF.
  public var csv: [UInt8] { csvHeader + csvRows }

  /// The line with the names of the columns.
  public var csvHeader: [UInt8] { Array((columns.map(\.description).joined(separator: ",") + "\r\n").utf8) }

  /// The lines of the rows.
  public var csvRows: [UInt8] {
    var csv: [UInt8] = []
    for row in rows { csv += Self.csvLine(row) }
    return csv
  }

  /// Returns a line of CSV with its end.
  ///
  /// - Parameter cells: The values of the line.
  package static func csvLine(_ cells: [Cell]) -> [UInt8] {
    var line: [UInt8] = []
    for (index, cell) in cells.enumerated() {
      if index > 0 { line.append(UInt8(ascii: ",")) }
      line += csv(cell).utf8
    }
    return line + [13, 10]
  }

  /// Returns a cell as CSV.
  ///
  /// Spreadsheets take a text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, also in quotes, and a formula
  /// can read other cells and call addresses. An apostrophe before it makes it a text.
  private static func csv(_ cell: Cell) -> String {
    switch cell {
    case .none: return ""
    case .integer(let value): return "\(value)"
    case .number(let value): return "\(value)"
    case .bool(let value): return "\(value)"
    case .text(let text):
      let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n＝＋－＠".unicodeScalars.contains($0) } ?? false
      let safe = isFormula ? "'" + text : text
      let needsQuotes = safe.utf8.contains {
        $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == 10 || $0 == 13
      }
      return needsQuotes ? "\"" + safe.replacing("\"", with: "\"\"") + "\"" : safe
    }
  }

  // MARK: Lines of JSON

  /// The table as lines of JSON, each an object with the columns as members. A cell without a value has no member.
  public var jsonLines: [UInt8] {
    var json = JSONWriter()
    var lines: [UInt8] = []
    for row in rows {
      json.reset()
      json.object { json in
        for (column, cell) in zip(columns, row) {
          switch cell {
          case .none: break
          case .text(let text): json.member(column, text)
          case .integer(let value): json.member(column, value)
          case .number(let value): json.member(column, value)
          case .bool(let value): json.member(column, value)
          }
        }
      }
      lines += PrintableJSON.escape(json.bytes) + [10]
    }
    return lines
  }
}
