import Synchronization

/// A bound on what all requests of a server take together, such as the bytes of bodies, and on the share of one address. May be used from any
/// thread.
final class HTTPBudget: Sendable {
  private struct Taken {
    var all = 0
    var byAddress: [String: Int] = [:]
  }

  private let unitsMax: Int
  private let shareMax: Int
  private let taken = Mutex(Taken())

  /// Makes a budget of which nothing is taken.
  ///
  /// - Parameters:
  ///   - unitsMax: The most that may be taken at a time, in bytes or requests.
  ///   - shareMax: The most of it that one address may take.
  init(_ unitsMax: Int, shareMax: Int) {
    self.unitsMax = unitsMax
    self.shareMax = shareMax
  }

  /// Takes a part of the budget.
  ///
  /// - Parameters:
  ///   - count: The part, in bytes or requests.
  ///   - address: The address of the client.
  /// - Returns: Whether it was left; if not, nothing is taken.
  func take(_ count: Int, for address: String) -> Bool {
    taken.withLock { taken in
      let share = taken.byAddress[address, default: 0] + count
      guard taken.all + count <= unitsMax, share <= shareMax else { return false }
      taken.all += count
      taken.byAddress[address] = share
      return true
    }
  }

  /// Gives a part back that the address has taken.
  func giveBack(_ count: Int, of address: String) {
    guard count > 0 else { return }
    taken.withLock { taken in
      taken.all -= count
      let share = taken.byAddress[address, default: 0] - count
      taken.byAddress[address] = share > 0 ? share : nil
    }
  }
}
