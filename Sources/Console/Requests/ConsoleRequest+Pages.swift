import Auditing
import Domain
import Serving

extension ConsoleRequest {
  /// Returns the id of the thing that a page is about: from the path, or from the query for an id that no path can hold. The access record
  /// gets the same id.
  ///
  /// - Parameters:
  ///   - name: The name of the place in the path.
  ///   - context: The context that answers.
  /// - Throws: `Problem` if there is none.
  func id(_ name: String, _ context: ConsoleContext) throws(Problem) -> Identifier {
    guard let id = places[name] ?? query["id"] else {
      throw Problem(.malformedRequest, "the address needs an id, as in ?id=…")
    }
    context.note([name: id])
    return Identifier(id)
  }

  /// Returns a time of the query; nil if there is none.
  ///
  /// - Throws: `Problem` if it is none.
  func pageTime(_ name: String, _ zone: PageTime = PageTime()) throws(Problem) -> Timestamp? {
    guard let text = query[name] else { return nil }
    if let time = Timestamp(rfc3339: text) ?? zone.read(text) { return time }
    throw Problem(
      .malformedRequest, "\(name) is a time such as 2013-03-08T21:05:00Z or 2013-03-08 21:05, found '\(text)'")
  }

  /// Returns the range of the query.
  func pageRange(_ zone: PageTime = PageTime()) throws(Problem) -> TimeRange {
    TimeRange(from: try pageTime("from", zone), to: try pageTime("to", zone))
  }

  /// Returns the offset from UTC in which times are shown.
  ///
  /// - Parameter standard: The offset if the query has none; nil for UTC.
  /// - Throws: `Problem` if the query has one that is none.
  func pageZone(_ standard: PageTime? = nil) throws(Problem) -> PageTime {
    guard let text = query["utc-offset"] else { return standard ?? PageTime() }
    guard let zone = PageTime(offset: text) else {
      throw Problem(.malformedRequest, "utc-offset is an offset such as -04:00, found '\(text)'")
    }
    return zone
  }
}
