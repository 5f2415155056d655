import Domain
package import Policies

/// GCRA on one 64-bit number: T = window / limit, τ = (burst − 1)·T; admit at `t` iff t ≥ TAT − τ, then
/// TAT = max(t, TAT) + T. Integers in microseconds; the caller's clock never runs backwards.
package struct RateLedger: Equatable {
  /// µs between tokens; 0: unlimited.
  var interval: Int64
  /// µs
  var tolerance: Int64
  var burst: Int64

  package init(_ rate: BudgetProfile.Rate) {
    if let limit = rate.limit, limit > 0 {
      interval = rate.window.microseconds / Int64(limit)
      burst = Int64(rate.burst)
      tolerance = (burst - 1) * interval
    } else {
      interval = 0
      burst = 0
      tolerance = 0
    }
  }

  @inline(__always)
  package var isUnlimited: Bool { interval == 0 }

  /// When the next token may be taken; at or before `now` when one is there.
  @inline(__always)
  package func availableAt(tat: Int64) -> Int64 { tat &- tolerance }

  @inline(__always)
  package func admits(tat: Int64, now: Int64) -> Bool { isUnlimited || now >= availableAt(tat: tat) }

  @inline(__always)
  package func charge(tat: inout Int64, now: Int64) {
    if !isUnlimited { tat = max(now, tat) &+ interval }
  }

  /// Gives one token back.
  package func refund(tat: inout Int64) {
    if !isUnlimited { tat = tat &- interval }
  }

  /// Whole tokens left, 0…burst; −1 where there is no limit.
  @inline(__always)
  package func tokensLeft(tat: Int64, now: Int64) -> Int {
    if isUnlimited { return -1 }
    let room = now &+ burst &* interval &- max(tat, now)
    return Int(max(0, min(burst, room / interval)))
  }
}
