import Domain
import Foundation
import JSON
import Testing

@testable import Planning

/// The example on the page about prices is what a story of the corpus decides.
struct WorkedExampleTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/rouse/Documentation.docc/Price.md").standardized
  private static let begin = "<!-- the example begins: deploy/docs.sh writes it -->"
  private static let end = "<!-- the example ends -->"

  @Test("the example on the page about prices has the numbers of its story")
  func shown() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let begin = try #require(text.range(of: Self.begin + "\n"), "the page has no place for the example")
    let end = try #require(text.range(of: Self.end))
    let example = try Self.example()
    if ProcessInfo.processInfo.environment["ROUSE_TEST_WRITE_PAGES"] != nil {
      try text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: example)
        .write(to: Self.page, atomically: true, encoding: .utf8)
    } else {
      #expect(text[begin.upperBound..<end.lowerBound] == example, "deploy/docs.sh rewrites it")
    }
  }

  private static func example() throws -> String {
    var story = try #require(CorpusCase.all.first { $0.name == "price/worked-example" }).read()
    var run = try CorpusRun(story)
    try run.play()
    let weighed = run.decided.filter { $0.reason != .emittedCoalesced }
    var rows = ["", "| time | shown | true | wrong | worth | tokens left | price | decided |"]
    rows.append(String(repeating: "| --- ", count: 8) + "|")
    var (shown, truth, left) = (0, 0, 6)
    for decision in weighed {
      truth = delay(announcedBy: decision.event, in: story) ?? truth
      let cells = [
        clock(decision.at), "\(shown) min", "\(truth) min", digits(decision.wrong, 1),
        digits(decision.value, 3), "\(left)", digits(decision.price, 3), "`\(decision.reason.rawValue)`",
      ]
      rows.append("| " + cells.joined(separator: " | ") + " |")
      if decision.verdict == .emit { (shown, left) = (truth, left - 1) }
    }
    // Nothing is learnt of a push that is held back, so the estimates after the step are those that it was weighed with.
    let held = try #require(weighed.last { $0.reason == .belowPrice })
    let place = try #require(story.steps.firstIndex { $0["event"]?["id"] == .string(held.event.text) })
    story.steps = Array(story.steps[...place])
    run = try CorpusRun(story)
    try run.play()
    return (rows + ["", try price(held, run.planner), ""]).map { $0 + "\n" }.joined()
  }

  /// Returns the sentence that computes the price of a planner's last decision.
  private static func price(_ decision: Decision, _ planner: borrowing Planner) throws -> String {
    let left = try #require(decision.tokensLeft.instance)
    let weighed = planner.price(of: decision, left: left)
    let price = try #require(weighed)
    let (need, worth) = (digits(price.need, 1), digits(price.worth, 3))
    return """
      At \(clock(decision.at)), \(need) changes and \(worth) looks were expected for the rest of the day. The price was
      1.25 · \(worth) / \(left) · (1 − \(left) / \(need)) = \(digits(decision.price, 3)).
      """
  }

  private static func clock(_ time: Timestamp) -> String { String(time.description.dropFirst(11).prefix(5)) }

  private static func delay(announcedBy event: Identifier, in story: CorpusStory) -> Int? {
    for step in story.steps {
      guard let told = step["event"], told["id"] == .string(event.text),
        case .number(let minutes)? = told["data"]?["delayMinutes"]
      else { continue }
      return Int(minutes)
    }
    return nil
  }

  private static func digits(_ number: Double, _ places: Int) -> String { String(format: "%.\(places)f", number) }
}
