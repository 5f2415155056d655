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
    /// The drawing.
    var drawing: Markup
    /// The sentence.
    var caption: String
    /// The colours and what they stand for.
    var legend: [PageCell] = []
  }

  /// The heading.
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
  /// The forms.
  var forms: [PageForm] = []
  /// The tables.
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
