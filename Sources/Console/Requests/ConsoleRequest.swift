import Auditing
import Domain
import Keys
import Serving

/// A request that the console has admitted.
struct ConsoleRequest: Sendable {
  let head: HTTPHead
  /// The texts that took the places of names such as `{device}` in the route's path, without escapes.
  let places: [String: String]
  let query: RequestQuery
  let body: [UInt8]
  /// The one who asks.
  let viewer: Viewer

  /// Returns the text of a place in the path.
  ///
  /// - Parameter name: The name, which the route's path has.
  subscript(_ name: String) -> String { places[name] ?? "" }

  /// Returns the fields of a form in the body.
  ///
  /// - Throws: `Problem` if the body is no form.
  func form() throws(Problem) -> RequestQuery {
    guard let boundary = MultipartForm.boundary(of: head.header("content-type")) else {
      return try RequestQuery(String(decoding: body, as: UTF8.self))
    }
    return try MultipartForm.read(body, boundary: boundary)
  }

  /// Returns the identifier of a place in the path.
  ///
  /// - Parameter name: The name, which the route's path has.
  /// - Throws: `Problem` if it is longer than any.
  func identifier(_ name: String) throws(Problem) -> Identifier {
    let text = self[name]
    guard text.utf8.count <= DomainBounds.plannedDeviceBytesMax else {
      throw Problem(
        .malformedRequest,
        "the \(name) in the path has \(text.utf8.count) bytes, expected at most \(DomainBounds.plannedDeviceBytesMax)")
    }
    return Identifier(text)
  }

  /// Returns the address of the same question with another cursor, without scheme and host.
  ///
  /// - Parameter cursor: The cursor.
  func address(cursor: String) -> String { address(with: "cursor", cursor) }

  /// Returns the address of the request with another value of one name, without scheme and host.
  ///
  /// - Parameters:
  ///   - name: The name in the query.
  ///   - value: The value.
  func address(with name: String, _ value: String) -> String {
    let items = query.items.filter { $0.name != name } + [RequestQuery.QueryItem(name: name, value: value)]
    return head.path + "?"
      + items.map { "\(PageLink.escaped($0.name))=\(PageLink.escaped($0.value))" }.joined(separator: "&")
  }
}

/// The one who asks, and what they may do.
struct Viewer: Sendable, Equatable {
  /// The id of the key; nil if the console asks for none.
  var key: String?
  /// The roles of the key, or every role if the console asks for none.
  var roles: Set<KeyRole>

  /// The token that forms have to send, so that another site cannot send them; nil for programs, which send their key.
  var formToken: String?
  /// Whether the viewer is a person who has signed in.
  var isSignedIn = false

  /// Anybody who reaches a console that asks for no key.
  static let anybody = Viewer(key: nil, roles: Set(KeyRole.allCases))

  /// Whether the viewer may do what a role may. Whoever may change things may also look at them.
  func may(_ role: KeyRole) -> Bool { roles.contains(role) || (role == .auditor && roles.contains(.operator)) }
}

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
