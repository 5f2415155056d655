import Domain
import Planning
import Policies

/// What showing a change is worth: relevance · 2^(−age / half-life) · the chance that somebody looks at that local hour.
/// The planner's own model, with the planner's own arithmetic.
struct ValueModel: Equatable, Sendable {
  /// 1 / µs
  let inverseHalfLife: Double
  /// By local hour, 24.
  let views: [Double]

  /// - Parameter views: of the device itself; nil: the kind's.
  init(_ kind: KindPolicy, views: [Double]? = nil) {
    inverseHalfLife = 1 / Double(max(1, kind.halfLife.microseconds))
    self.views = views ?? kind.views
  }

  /// Worth left of a change after so many µs, of 1.
  @inline(__always)
  func decay(_ age: Int64) -> Double {
    Decay.factor(age: TimeSpan(microseconds: age), inverseHalfLife: inverseHalfLife)
  }
}

/// A change that an instance could show: a visible one, at the time the planner learnt of it.
struct Arrival: Equatable, Sendable {
  /// µs
  var time: Int64
  /// Showing it then or later is worth nothing, µs.
  var expires: Int64
  /// 0…1; 0 for a change that cannot be seen.
  var relevance: Float
}
