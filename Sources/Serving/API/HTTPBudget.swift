import Synchronization

/// A bound on what all requests of a server take together, such as the bytes of bodies. May be used from any thread.
final class HTTPBudget: Sendable {
  private let unitsMax: Int
  private let units = Atomic<Int>(0)

  /// Makes a budget of which nothing is taken.
  ///
  /// - Parameter unitsMax: The most that may be taken at a time, in bytes or requests.
  init(_ unitsMax: Int) { self.unitsMax = unitsMax }

  /// Takes a part of the budget.
  ///
  /// - Returns: Whether it was left; if not, nothing is taken.
  func take(_ count: Int) -> Bool {
    let after = units.add(count, ordering: .relaxed).newValue
    if after <= unitsMax { return true }
    giveBack(count)
    return false
  }

  /// Gives a part back.
  func giveBack(_ count: Int) { units.subtract(count, ordering: .relaxed) }
}
