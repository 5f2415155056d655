import Auditing
import Domain
import Foundation
import Operating

/// The places at which lists continue, as texts that mean nothing to clients.
enum PageCursor {
  /// Returns the text of a place in the order of storing.
  static func text(_ place: DecisionPlace) -> String { encoded("d.\(place.page).\(place.line).\(place.id)") }

  /// Reads a place in the order of storing; nil for a text that is none.
  static func place(_ text: String) -> DecisionPlace? {
    guard let parts = parts(text, "d"), parts.count == 3, let page = Int64(parts[0]), let line = Int(parts[1]),
      page > Int64.min, page < Int64.max - 1, (-1...1_000_000).contains(line)
    else { return nil }
    return DecisionPlace(page: page, line: line, id: Identifier(String(parts[2])))
  }

  /// A place in the time order of a device: the entries up to a time, without some of those at that time.
  struct Moment: Equatable {
    /// The time of the entries that come next, and of some that were there.
    var at: Timestamp
    /// The number of entries at that time that were there.
    var seen: Int
  }

  /// Returns the text of a moment.
  static func text(_ moment: Moment) -> String { encoded("t.\(moment.at.microseconds).\(moment.seen)") }

  /// Reads a moment; nil for a text that is none.
  static func moment(_ text: String) -> Moment? {
    guard let parts = parts(text, "t"), parts.count == 2, let at = Int64(parts[0]), let seen = Int(parts[1]),
      at < Int64.max, (0...seenMax).contains(seen)
    else { return nil }
    return Moment(at: Timestamp(microseconds: at), seen: seen)
  }

  /// Returns the text of a place in the list of dead letters.
  static func text(_ place: DeadLetterCursor) -> String {
    let tops = place.tops.sorted { $0.key < $1.key }.map { "\($0.key)-\($0.value)" }
    return encoded("l." + tops.joined(separator: "_"))
  }

  /// Reads a place in the list of dead letters; nil for a text that is none.
  static func letters(_ text: String) -> DeadLetterCursor? {
    guard let list = parts(text, "l")?.first else { return nil }
    var tops: [Int32: Int64] = [:]
    for top in list.split(separator: "_") {
      let numbers = top.split(separator: "-")
      guard numbers.count == 2, let partition = Int32(numbers[0]), let offset = Int64(numbers[1]), partition >= 0,
        offset >= 0, tops.updateValue(offset, forKey: partition) == nil
      else { return nil }
    }
    return tops.isEmpty ? nil : DeadLetterCursor(tops: tops)
  }

  /// Returns the text of a place in a statement.
  static func text(_ place: StatementPlace) -> String {
    encoded("s.\(place.at.microseconds).\(place.partition).\(place.offset).\(place.ordinal)")
  }

  /// Reads a place in a statement; nil for a text that is none.
  static func statementPlace(_ text: String) -> StatementPlace? {
    guard let numbers = parts(text, "s")?.map({ Int64($0) }), numbers.count == 4, let at = numbers[0],
      let partition = numbers[1], let offset = numbers[2], let ordinal = numbers[3]
    else { return nil }
    return StatementPlace(at: Timestamp(microseconds: at), partition: partition, offset: offset, ordinal: ordinal)
  }

  /// Returns the text of a place in a list of counted values.
  static func text(_ place: Top.RowPlace) -> String {
    encoded("r.\(place.end.microseconds).\(place.decisions).\(place.name)")
  }

  /// Reads a place in a list of counted values; nil for a text that is none.
  static func topPlace(_ text: String) -> Top.RowPlace? {
    guard let parts = parts(text, "r"), parts.count == 3, let end = Int64(parts[0]), let decisions = Int(parts[1]),
      decisions >= 0
    else { return nil }
    return Top.RowPlace(
      name: Identifier(String(parts[2])), decisions: decisions, end: Timestamp(microseconds: end))
  }

  /// Returns the text of a place in a list of started activities.
  static func text(_ place: StartedActivities.StartPlace) -> String {
    encoded("z.\(place.at.microseconds).\(place.number)")
  }

  /// Reads a place in a list of started activities; nil for a text that is none.
  static func startPlace(_ text: String) -> StartedActivities.StartPlace? {
    guard let numbers = parts(text, "z")?.map({ Int64($0) }), numbers.count == 2, let at = numbers[0],
      let number = numbers[1]
    else { return nil }
    return StartedActivities.StartPlace(at: Timestamp(microseconds: at), number: number)
  }

  /// Returns the text of a place in the list of access records.
  static func text(_ place: AccessPlace) -> String { encoded("a.\(place.access).\(place.refusal)") }

  /// Reads a place in the list of access records; nil for a text that is none.
  static func accessPlace(_ text: String) -> AccessPlace? {
    guard let numbers = parts(text, "a")?.map({ Int64($0) }), numbers.count == 2, let access = numbers[0],
      let refusal = numbers[1]
    else { return nil }
    return AccessPlace(access: access, refusal: refusal)
  }

  /// The most entries at one time that a list is continued behind.
  /// - Beyond: the cursor is refused; a device with so many entries in a microsecond has to be exported.
  private static let seenMax = 100_000
  /// The bytes of a cursor. The id of a decision can have any length.
  /// - Beyond: the cursor is refused.
  static let bytesMax = 8192

  private static func encoded(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Returns the parts of a cursor of a sort; nil for a text that is none.
  private static func parts(_ text: String, _ sort: String) -> [Substring]? {
    var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: base64), let words = String(data: data, encoding: .utf8) else { return nil }
    let splits = ["d": 3, "t": 2, "s": 4, "l": 1, "r": 3, "z": 2, "a": 2][sort] ?? 0
    let parts = words.split(separator: ".", maxSplits: splits, omittingEmptySubsequences: false)
    return parts.first.map(String.init) == sort ? Array(parts.dropFirst()) : nil
  }
}
