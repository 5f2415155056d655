import Domain

/// The place of each value of a document, by the path of the value.
struct PlacesByPath: Sendable {
  private var places: [Identifier: Position] = [:]

  /// The paths of all values, in no particular order.
  var paths: [String] { places.keys.map(\.text) }

  /// The place of the value at a path; nil if there is none.
  subscript(path: String) -> Position? {
    get { places[Identifier(path)] }
    set { places[Identifier(path)] = newValue }
  }
}
