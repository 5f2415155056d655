import Auditing
import Serving

/// A part of a page with a heading.
struct PageSection {
  /// A number that is read at a glance.
  struct PageTile {
    /// The name of the number.
    var name: String
    /// The number.
    var value: String
    /// A line that says what is counted.
    var detail: String
    /// The address of what is behind the number; nil for none.
    var link: String?
    /// The tone of the number.
    var tone: PageCell.Tone?
  }

  /// A step of a list in which each may have steps below.
  struct PageNode {
    /// The words of the step.
    var words: [PageCell]
    /// The steps below.
    var nodes: [PageNode] = []
  }

  /// A drawing with the sentence below it.
  struct PageFigure {
    var drawing: Markup
    /// The sentence.
    var caption: String
    /// The colours and what they stand for.
    var legend: [PageCell] = []
  }

  var heading: String
  /// The numbers.
  var tiles: [PageTile] = []
  /// The paragraphs, each made of texts.
  var paragraphs: [[PageCell]] = []
  /// Names with values.
  var facts: [(name: String, value: [PageCell])] = []
  /// Sentences, one below the other.
  var list: [[PageCell]] = []
  /// Steps with steps below.
  var tree: [PageNode] = []
  /// The drawings.
  var figures: [PageFigure] = []
  /// The state of what moves in the section, which the script changes; nil if nothing moves.
  var state: String?
  /// Text as it is, such as a file.
  var text: String?
  var forms: [PageForm] = []
  var tables: [PageTable] = []

  /// The values for a template.
  func values(_ place: Int, token: String) -> PageValues {
    PageValues([
      "heading": .text(heading), "headingId": .text("section-\(place)"), "text": text.map { .text($0) },
      "state": state.map { .text($0) },
      "tiles": .list(
        tiles.map {
          PageValues([
            "name": .text($0.name), "value": .text($0.value), "detail": .text($0.detail),
            "href": $0.link.map { .text($0) }, "tone": $0.tone.map { .text($0.rawValue) },
          ])
        }),
      "paragraphs": .list(paragraphs.map(Self.words)), "list": .list(list.map(Self.words)),
      "facts": .list(
        facts.map { fact in
          var values = Self.words(fact.value)
          values["name"] = .text(fact.name)
          return values
        }),
      "tree": .list(tree.map(Self.node)),
      "figures": .list(
        figures.map {
          PageValues([
            "drawing": .markup($0.drawing), "caption": .text($0.caption), "legend": .list($0.legend.map(\.values)),
          ])
        }),
      "forms": .list(forms.enumerated().map { $1.values("\(place)-\($0)", token: token) }),
      "tables": .list(tables.enumerated().map { $1.values("\(place)-\($0)") }),
    ])
  }

  private static func words(_ cells: [PageCell]) -> PageValues { PageValues(["words": .list(cells.map(\.values))]) }

  private static func node(_ node: PageNode) -> PageValues {
    var values = words(node.words)
    // A template looks for a missing name in what is around it, so a step without steps says so.
    values["nodes"] = .list(node.nodes.map(Self.node))
    return values
  }
}

/// A table on a page.
struct PageTable {
  /// The name of the table in the address of its CSV, unique on its page.
  var name: String
  /// The caption, which says what the rows are.
  var caption: String
  /// The titles of the columns. A number sign at the beginning says that the column holds numbers.
  var columns: [String]
  /// The rows; the first cell of each is its title.
  var rows: [[PageCell]] = []
  /// The sentence that takes the place of a table without rows.
  var empty: String
  /// The address of the same data as CSV; nil for the address of the page with the table's name.
  var csv: String?
  /// Reads every row for the CSV at the address of the page, if the page lists only some; nil if it has them all.
  var export: (readers: StoreReaders, first: ExportStream.Reading)?
  /// The id of the form that is sent again for the CSV; nil if an address is enough.
  var form: String?
  /// The most rows on the page. The CSV has all of them.
  var shownMax = Int.max
  /// The id by which the script finds the table; nil if nothing in it moves.
  var id: String?

  /// The name in a query or a form that asks for the CSV of a table.
  static let nameField = "table"

  /// Returns the table as CSV, with every row, and numbers without separators.
  ///
  /// - Throws: `Problem` if rows that the page does not have cannot be read now, because too many exports are under way.
  func csvAnswer() throws(Problem) -> HTTPAnswer {
    if let export {
      return HTTPAnswer(
        status: 200, contentType: AnswerForm.csv.contentType, headers: HTTPAnswer.dataHeaders(.csv, name: name),
        stream: try ExportStream.start(export.readers, export.first))
    }
    let titles = columns.map { AnswerTable.Cell.text($0.hasPrefix("#") ? String($0.dropFirst()) : $0) }
    let lines = [titles] + rows.map { $0.map(\.plain) }
    return HTTPAnswer(
      status: 200, contentType: AnswerForm.csv.contentType, headers: HTTPAnswer.dataHeaders(.csv, name: name),
      body: lines.flatMap { AnswerTable.csvLine($0) })
  }

  /// The values for a template.
  ///
  /// - Parameter place: The place of the table on its page, which makes its ids unique.
  func values(_ place: String) -> PageValues {
    PageValues([
      "caption": .text(caption), "captionId": .text("caption-\(place)"), "empty": .text(empty),
      "csv": csv.map { .text($0) }, "csvForm": form.map { .text($0) }, "csvName": .text(name),
      "tableId": id.map { .text($0) },
      "columns": .list(
        columns.map {
          let isNumber = $0.hasPrefix("#")
          return PageValues(["name": .text(isNumber ? String($0.dropFirst()) : $0), "isNumber": .flag(isNumber)])
        }),
      "rows": .list(
        rows.prefix(shownMax).map { row in
          PageValues([
            "cells": .list(
              row.enumerated().map { place, cell in
                var values = cell.values
                values["isTitle"] = .flag(place == 0)
                return values
              })
          ])
        }),
    ])
  }
}
