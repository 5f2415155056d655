package import Domain
package import Policies

/// The tokens spent of one rate: the theoretical arrival time (TAT) of the generic cell rate algorithm (GCRA). Only a
/// `RateLedger` changes it.
package struct RateState: Equatable, Sendable {
  /// The theoretical arrival time; 1970 if nothing was ever charged.
  package fileprivate(set) var tat = Timestamp(microseconds: 0)

  /// Creates the state of a rate of which nothing was spent.
  package init() {}

  /// Restores a state from the value that `rouse.state` holds.
  init(tat: Timestamp) { self.tat = tat }

  /// Whether nothing was ever charged.
  var isFull: Bool { tat.microseconds == 0 }
}

/// The limit of one rate, such as "5 in an hour, at most 3 at once".
///
/// It is kept by the generic cell rate algorithm (GCRA), whose state is one instant, TAT. With T = window / limit and
/// τ = (burst − 1)·T, a token is there at time t if t ≥ TAT − τ. Taking it sets TAT = max(t, TAT) + T. All times are whole
/// microseconds. The caller's clock must never run backwards.
package struct RateLedger: Equatable {
  /// T, the time in which one token comes back; zero if there is no limit.
  let interval: TimeSpan
  /// τ, the time by which charges may come early.
  let tolerance: TimeSpan
  /// The largest number of tokens that may be spent at once.
  let burst: Int64

  /// Creates the limit that a profile sets.
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

  /// Whether there is no limit.
  package var isUnlimited: Bool { interval == .zero }

  /// Returns the instant from which the next token may be taken; it is not after now if a token is left.
  package func availableAt(_ state: RateState) -> Timestamp { state.tat - tolerance }

  /// Returns whether a token may be taken.
  /// - Parameters:
  ///   - state: The tokens spent.
  ///   - now: Log time.
  package func admits(_ state: RateState, now: Timestamp) -> Bool { isUnlimited || now >= availableAt(state) }

  /// Takes a token. Whether one is left is not checked.
  /// - Parameters:
  ///   - state: The tokens spent.
  ///   - now: Log time.
  package func charge(_ state: inout RateState, now: Timestamp) {
    if !isUnlimited { state.tat = max(now, state.tat) + interval }
  }

  /// Gives one token back.
  /// - Parameter state: The tokens spent, of which one was charged by the command that is refunded.
  package func refund(_ state: inout RateState) {
    if !isUnlimited { state.tat = state.tat - interval }
  }

  /// Returns the whole tokens left, 0…burst; −1 if there is no limit.
  /// - Parameters:
  ///   - state: The tokens spent.
  ///   - now: Log time.
  @inline(__always)
  package func tokensLeft(_ state: RateState, now: Timestamp) -> Int {
    if isUnlimited { return -1 }
    let room = now + interval * burst - max(state.tat, now)
    return Int(max(0, min(burst, room.microseconds / interval.microseconds)))
  }

  /// The time in which all tokens come back, an hour at least.
  var horizon: TimeSpan { max(.hours(1), interval * burst) }

  /// Returns the tokens that are spent and have not come back, with parts of a token, 0…burst; 0 if there is no limit.
  /// - Parameters:
  ///   - state: The tokens spent.
  ///   - now: Log time.
  @inline(__always)
  func tokensOut(_ state: RateState, now: Timestamp) -> Double {
    if isUnlimited || state.tat <= now { return 0 }
    return min(Double(burst), Double((state.tat - now).microseconds) / Double(interval.microseconds))
  }
}
