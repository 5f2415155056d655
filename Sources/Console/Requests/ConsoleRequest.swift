import Domain
import Keys
import Serving

/// A request that the console has admitted.
struct ConsoleRequest: Sendable {
  /// The head.
  let head: HTTPHead
  /// The texts that took the places of names such as `{device}` in the route's path, without escapes.
  let places: [String: String]
  /// The query.
  let query: RequestQuery
  /// The body.
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
