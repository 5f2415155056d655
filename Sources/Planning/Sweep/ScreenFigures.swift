package import Domain
package import Policies

/// The figures of a complete sweep over the screens of a partition.
///
/// They are those of widgets and controls to which a push can be sent now: registered, with a live token, of a kind that the policy
/// decides about, on a device that is not in developer mode. Of Live Activities, whose updates never wait, only the zombies are counted.
package struct ScreenFigures: Sendable, Equatable {
  /// The figures of the kinds that have such instances.
  package var kinds: [Kind] = []
  /// The number of devices of which one was visited; 1 if all were.
  package var stride: Int

  /// Makes the figures of no kind.
  ///
  /// - Parameter stride: The number of devices of which one was visited.
  package init(stride: Int) { self.stride = stride }

  /// The upper ends of the buckets of ages, in seconds.
  package static let ageBounds: [Double] = [10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400]

  /// The figures of one kind.
  package struct Kind: Sendable, Equatable {
    /// The name of the kind.
    package var name: Identifier = ""
    /// The number of instances.
    package var instances = 0
    /// The number of instances whose screen shows something wrong.
    package var wrong = 0
    /// The number of wrong instances by the age of the oldest thing wrong: one for each of `ageBounds`, and one beyond.
    package var ages = [UInt64](repeating: 0, count: ScreenFigures.ageBounds.count + 1)
    /// The sum of these ages, in seconds.
    package var ageSum = 0.0
    /// The sum of what a reload now is worth, in looks.
    package var worthPending = 0.0
    /// The sum of N, the visible changes that are still expected today.
    package var changesExpected = 0.0
    /// The sum of A, the worth in looks of the pushes that are still expected today.
    package var worthExpected = 0.0
    /// The sum of the prices of one token of each instance, in looks.
    package var tokenPrices = 0.0
    /// The sum of the tokens that are left today.
    package var tokensLeft = 0
    /// The objective of the kind; nil if it has none.
    package var objective: FreshnessObjective?
    /// The number of instances whose screen has been wrong by `wrongAtLeast` of the objective for longer than `freshWithin`.
    package var late = 0
    /// The number of Live Activities that run and that pushes do not update or end (`Zombie`).
    package var zombies = 0

    /// Makes the figures of no instance.
    package init() {}

    /// Adds a wrong instance.
    ///
    /// - Parameter age: The age of the oldest thing wrong, in seconds.
    mutating func noteWrong(age: Double) {
      wrong += 1
      ages[ScreenFigures.ageBounds.firstIndex { age <= $0 } ?? ScreenFigures.ageBounds.count] += 1
      ageSum += age
    }

    /// Returns the figures with every instance counted several times.
    func times(_ factor: Int) -> Kind {
      if factor == 1 { return self }
      var all = self
      all.instances *= factor
      all.wrong *= factor
      all.ages = ages.map { $0 * UInt64(factor) }
      all.ageSum *= Double(factor)
      all.worthPending *= Double(factor)
      all.changesExpected *= Double(factor)
      all.worthExpected *= Double(factor)
      all.tokenPrices *= Double(factor)
      all.tokensLeft *= factor
      all.late *= factor
      all.zombies *= factor
      return all
    }
  }
}
