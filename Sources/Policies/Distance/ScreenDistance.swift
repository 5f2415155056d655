/// The wrongness of a whole screen: 1 − ∏(1 − d) over the distances d of its parts. It begins with a screen that is right.
///
/// The parts are the displayed fields. On a board or a feed of many subjects they are the changes since the last reload, each
/// with its relevance as its distance.
package struct ScreenDistance: Equatable, Sendable {
  /// The product of (1 − d) over the parts.
  package var right: Double

  /// Creates the distance of a screen.
  /// - Parameter right: The product of (1 − d) over parts that were added before; 1 if there are none.
  @inlinable package init(right: Double = 1) { self.right = right }

  /// Adds a part.
  /// - Parameter distance: The distance of the part, 0…1.
  @inlinable
  @inline(__always)
  package mutating func add(_ distance: Double) { right *= 1 - distance }

  /// The distance of the screen, 0…1. It is 0 exactly when the distance of every part is 0.
  @inlinable
  @inline(__always)
  package var value: Double { 1 - right }

  /// Returns the largest distance of two states of a screen.
  /// - Parameter fields: The distance of each field.
  package static func most(_ fields: [FieldDistance]) -> Double {
    var screen = ScreenDistance()
    for field in fields { screen.add(field.most) }
    return screen.value
  }

  /// Returns the distance between two states of a screen.
  /// - Parameters:
  ///   - shown: The value of each field on the screen.
  ///   - truth: The true value of each field, as many.
  ///   - fields: The distance of each field, as many.
  package static func between(
    shown: [DisplayedValue], truth: [DisplayedValue], _ fields: [FieldDistance]
  ) -> Double {
    var screen = ScreenDistance()
    for place in fields.indices { screen.add(fields[place](shown: shown[place], truth: truth[place])) }
    return screen.value
  }
}
