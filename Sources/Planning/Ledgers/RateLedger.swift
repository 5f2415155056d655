package import Domain
package import Policies

/// The state of one GCRA: its theoretical arrival time (TAT). Only a `RateLedger` changes it.
package struct RateState: Equatable, Sendable {
  /// The theoretical arrival time; 1970 where nothing was ever charged.
  package fileprivate(set) var tat = Timestamp(microseconds: 0)

  package init() {}

  /// Restores a state as it was written.
  init(tat: Timestamp) { self.tat = tat }

  /// Whether nothing was ever charged.
  var isFull: Bool { tat.microseconds == 0 }
}

/// The limit of one rate, kept by GCRA on one 64-bit number: T = window / limit, τ = (burst − 1)·T; a token is there at `t`
/// iff t ≥ TAT − τ, and taking it sets TAT = max(t, TAT) + T. Integers in microseconds; the caller's clock never runs
/// backwards.
package struct RateLedger: Equatable {
  /// The time between tokens; zero where there is no limit.
  let interval: TimeSpan
  let tolerance: TimeSpan
  let burst: Int64

  package init(_ rate: BudgetProfile.Rate) {
    if let limit = rate.limit, limit > 0 {
      interval = TimeSpan(microseconds: rate.window.microseconds / Int64(limit))
      burst = Int64(rate.burst)
      tolerance = interval * (burst - 1)
    } else {
      interval = .zero
      burst = 0
      tolerance = .zero
    }
  }

  @inline(__always)
  package var isUnlimited: Bool { interval == .zero }

  /// Returns the instant at which the next token may be taken; at or before now when one is there.
  @inline(__always)
  package func availableAt(_ state: RateState) -> Timestamp { state.tat - tolerance }

  /// Returns whether a token may be taken now.
  @inline(__always)
  package func admits(_ state: RateState, now: Timestamp) -> Bool { isUnlimited || now >= availableAt(state) }

  /// Takes a token.
  @inline(__always)
  package func charge(_ state: inout RateState, now: Timestamp) {
    if !isUnlimited { state.tat = max(now, state.tat) + interval }
  }

  /// Gives one token back.
  package func refund(_ state: inout RateState) {
    if !isUnlimited { state.tat = state.tat - interval }
  }

  /// Returns the whole tokens left, 0…burst; −1 where there is no limit.
  @inline(__always)
  package func tokensLeft(_ state: RateState, now: Timestamp) -> Int {
    if isUnlimited { return -1 }
    let room = now + interval * burst - max(state.tat, now)
    return Int(max(0, min(burst, room.microseconds / interval.microseconds)))
  }
}
