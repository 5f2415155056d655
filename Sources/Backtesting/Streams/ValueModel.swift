import Domain
import Planning
import Policies

/// The value of showing a change: relevance · 2^(−age / half-life) · the chance of a look in that local hour. This is the
/// planner's model, computed with the planner's code.
struct ValueModel: Equatable, Sendable {
  /// The inverse of the half-life, 1/µs.
  let inverseHalfLife: Double
  /// The chance of a look by local hour, 24 values.
  let views: [Double]

  /// Creates the model of a kind.
  /// - Parameters:
  ///   - kind: The kind with its half-life and view curve.
  ///   - views: The view curve of the device itself, 24 values; nil takes the curve of the kind.
  init(_ kind: KindPolicy, views: [Double]? = nil) {
    inverseHalfLife = kind.halfLife.map { 1 / Double(max(1, $0.microseconds)) } ?? 0
    self.views = views ?? kind.views
  }

  /// Returns the share of a change's worth that is left after some time.
  /// - Parameter age: The time since the change, µs.
  @inline(__always)
  func decay(_ age: Int64) -> Double {
    Decay.factor(age: TimeSpan(microseconds: age), inverseHalfLife: inverseHalfLife)
  }
}
