import Auditing
import Domain
import Foundation
import Serving

/// Reads the query of a question, and notes every mistake in it. Call ``finish()`` when everything is read.
struct QueryReader {
  private let query: RequestQuery
  private let pageTime: PageTime?
  private var known: [String] = []
  private var mistakes: [Problem.Mistake] = []
  /// The texts that were read, by name. Names with a mistake are not among them.
  private(set) var texts: [String: String] = [:]

  /// Begins to read.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - pageTime: Reads times as people write them, such as `2013-03-08 21:05`; nil for the times of programs alone.
  init(_ query: RequestQuery, pageTime: PageTime? = nil) {
    self.query = query
    self.pageTime = pageTime
  }

  /// Returns the text of a name; nil if the query does not have it, or has it without a value.
  mutating func text(_ name: String, bytesMax: Int = DomainBounds.plannedDeviceBytesMax) -> String? {
    known.append(name)
    let values = query.items.filter { $0.name == name }.map(\.value)
    guard let value = values.first else { return nil }
    if values.count > 1 {
      refuse(name, "named \(values.count) times; name it once")
    } else if value.isEmpty {
      refuse(name, "has no value; leave it out, or give it one")
    } else if value.utf8.count > bytesMax {
      refuse(name, "has \(value.utf8.count) bytes, expected at most \(bytesMax)")
    } else {
      texts[name] = value
      return value
    }
    return nil
  }

  /// Returns the identifier of a name; nil if there is none.
  mutating func identifier(_ name: String) -> Identifier? { text(name).map { Identifier($0) } }

  /// Returns the identifier of a name that the question needs; an empty one with a mistake.
  mutating func neededIdentifier(_ name: String) -> Identifier {
    if let identifier = identifier(name) { return identifier }
    require(name, "the question is about one \(name)")
    return ""
  }

  /// Returns the time of a name; nil if there is none.
  mutating func time(_ name: String) -> Timestamp? {
    guard let text = text(name) else { return nil }
    // In a query `+` stands for a space, so an offset such as +02:00 arrives as one unless it is written %2B02:00.
    if let time = Timestamp(rfc3339: text.replacing(" ", with: "+")) ?? pageTime?.read(text) { return time }
    let others = pageTime == nil ? "" : ", or 2013-07-04 12:00"
    refuse(name, "expected an RFC 3339 date and time such as 2013-07-04T12:00:00Z\(others), found '\(text)'")
    return nil
  }

  /// Returns the range between the names `from` and `to`.
  mutating func range() -> TimeRange {
    let range = TimeRange(from: time("from"), to: time("to"))
    if let from = range.from, let to = range.to, from >= to {
      refuse("from", "\(from) is not before to=\(to), so there is nothing between them; exchange them")
    }
    return range
  }

  /// Returns an integer; the default if there is none.
  mutating func integer(_ name: String, _ bounds: ClosedRange<Int>, default value: Int) -> Int {
    guard let text = text(name) else { return value }
    guard let number = Int(text), bounds.contains(number) else {
      refuse(name, "expected a number from \(bounds.lowerBound) to \(bounds.upperBound), found '\(text)'")
      return value
    }
    return number
  }

  /// Returns a share above 0 and at most 1; the default if there is none.
  mutating func share(_ name: String, default value: Double) -> Double {
    guard let text = text(name) else { return value }
    guard let number = Double(text), number > 0, number <= 1 else {
      refuse(name, "expected a number above 0 and at most 1 such as 0.01, found '\(text)'")
      return value
    }
    return number
  }

  /// Returns the value `true` or `false` of a name; nil if there is none.
  mutating func bool(_ name: String) -> Bool? {
    guard let text = text(name) else { return nil }
    if text == "true" || text == "false" { return text == "true" }
    refuse(name, "expected true or false, found '\(text)'")
    return nil
  }

  /// Returns one of several values; nil if there is none.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Choice.Type) -> Choice?
  {
    choice(name, among: Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
  }

  /// Returns one of several texts; nil if there is none.
  mutating func choice(_ name: String, among names: [String]) -> String? {
    guard let text = text(name) else { return nil }
    if names.contains(text) { return text }
    let near = NearestName.of(text, among: names).map { "; did you mean \($0)?" } ?? ""
    refuse(name, "expected \(names.joined(separator: ", ")), found '\(text)'\(near)")
    return nil
  }

  /// Notes a mistake if the query does not have a name.
  ///
  /// - Parameters:
  ///   - name: The name in the query.
  ///   - advice: What to do.
  mutating func require(_ name: String, _ advice: String) {
    if !query.items.contains(where: { $0.name == name }) { refuse(name, "missing; \(advice)") }
  }

  /// Notes a mistake.
  ///
  /// - Parameters:
  ///   - name: The name in the query.
  ///   - words: The mistake.
  mutating func refuse(_ name: String, _ words: String) {
    mistakes.append(Problem.Mistake(parameter: name, detail: words))
  }

  /// Ends reading.
  ///
  /// - Throws: `Problem` with all mistakes, names that nobody read among them.
  mutating func finish() throws(Problem) {
    var unknown: Set<String> = []
    for item in query.items where !known.contains(item.name) && unknown.insert(item.name).inserted {
      let near = NearestName.of(item.name, among: known).map { "did you mean \($0)?" }
      let names = known.isEmpty ? "this question has none" : "known: \(known.joined(separator: ", "))"
      refuse(item.name, "unknown; \(near ?? names)")
    }
    guard !mistakes.isEmpty else { return }
    let count = mistakes.count == 1 ? "1 mistake" : "\(mistakes.count) mistakes"
    var problem = Problem(
      .queryRefused, "the query has \(count): \(mistakes[0].parameter ?? ""): \(mistakes[0].detail)")
    problem.mistakes = mistakes
    throw problem
  }
}

/// The query of a request: names with values, such as `from=…&limit=20`.
struct RequestQuery: Sendable, Equatable {
  /// A name with its value.
  struct QueryItem: Sendable, Equatable {
    var name: String
    var value: String
  }

  /// The items, in the order of the request.
  let items: [QueryItem]

  /// The most items of a query.
  /// - Beyond: the request is refused.
  static let itemsMax = 100

  /// Makes a query of items.
  init(items: [QueryItem]) { self.items = items }

  /// Reads a query, or the body of a form.
  ///
  /// - Parameter text: The query with its escapes, where `+` stands for a space; nil if there is none.
  /// - Throws: `Problem` if it has too many items, or escapes that are none.
  init(_ text: String?) throws(Problem) {
    let parts = (text ?? "").split(separator: "&")
    guard parts.count <= Self.itemsMax else {
      throw Problem(.malformedRequest, "a query has at most \(Self.itemsMax) items")
    }
    var items: [QueryItem] = []
    for part in parts {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      items.append(
        QueryItem(
          name: try Self.decoded(words[0]), value: words.count == 2 ? try Self.decoded(words[1]) : ""))
    }
    self.items = items
  }

  /// Returns the value of the first item with a name; nil if there is none, or if it is empty.
  subscript(_ name: String) -> String? { items.first { $0.name == name && !$0.value.isEmpty }?.value }

  /// The query without items that have no value. A browser sends every field of a form, also those that were left empty.
  var withoutEmpty: RequestQuery { RequestQuery(items: items.filter { !$0.value.isEmpty }) }

  private static func decoded(_ text: Substring) throws(Problem) -> String {
    guard let decoded = text.replacing("+", with: " ").removingPercentEncoding else {
      throw Problem(.malformedRequest, "the query is not UTF-8 in percent-encoding")
    }
    return decoded
  }
}
