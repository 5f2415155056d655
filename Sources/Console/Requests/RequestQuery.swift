import Foundation
import Serving

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
