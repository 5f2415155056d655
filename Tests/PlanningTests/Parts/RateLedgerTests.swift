import Domain
import Policies
import Testing

@testable import Planning

private func rate(_ limit: Int?, perSeconds window: Int64, burst: Int) -> RateLedger {
  RateLedger(
    BudgetProfile.Rate(
      limit: limit, window: .seconds(window), burst: burst,
      provenance: BudgetProfile.Provenance(source: "test", confidence: "high")))
}

/// The charges of one rate as a list of times. A bucket of `burst` tokens' time that empties steadily is filled anew from
/// the list for each question.
private struct RateModel {
  var charges: [Timestamp] = []
  let interval: Int64
  let burst: Int64

  /// Returns the time in µs that the bucket needs to empty.
  func level(_ now: Timestamp) -> Int64 {
    var level: Int64 = 0
    var last = charges.first ?? now
    for charge in charges {
      level = max(0, level - (charge - last).microseconds) + interval
      last = charge
    }
    return max(0, level - (now - last).microseconds)
  }

  func tokensLeft(_ now: Timestamp) -> Int { Int((interval * burst - level(now)) / interval) }
}

@Suite("Rates")
struct RateLedgerTests {
  @Test("a rate admits, charges and refunds as a list of charge times does")
  func model() {
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let (limit, window) = (1 + random.below(6), Int64(60 + random.below(3600)))
      let ledger = rate(limit, perSeconds: window, burst: 1 + random.below(4))
      var (state, model) = (RateState(), RateModel(interval: ledger.interval.microseconds, burst: ledger.burst))
      var now = Timestamp(microseconds: 1_782_907_200_000_000)
      var isRefundable = false
      for step in 0..<120 {
        let context = "seed \(seed), step \(step)"
        now = now + TimeSpan(microseconds: Int64(random.below(Int(ledger.interval.microseconds) * 2)))
        #expect(ledger.tokensLeft(state, now: now) == model.tokensLeft(now), "\(context)")
        #expect(ledger.admits(state, now: now) == (model.tokensLeft(now) >= 1), "\(context)")
        let available = max(now, ledger.availableAt(state))
        #expect(model.tokensLeft(available) >= 1, "\(context)")
        if available > now { #expect(model.tokensLeft(available - TimeSpan(microseconds: 1)) == 0, "\(context)") }
        if isRefundable, random.chance(1, in: 8) {
          ledger.refund(&state)
          model.charges.removeLast()
          isRefundable = false
        } else if ledger.admits(state, now: now) {
          ledger.charge(&state, now: now)
          model.charges.append(now)
          isRefundable = true
        }
      }
    }
  }

  @Test("no span of time holds more charges than the burst and what the span refills")
  func spans() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let ledger = rate(1 + random.below(10), perSeconds: 3600, burst: 1 + random.below(5))
      var state = RateState()
      var charges: [Timestamp] = []
      var now = Timestamp(microseconds: 5)
      for _ in 0..<300 {
        now = now + .seconds(Int64(random.below(400)))
        guard ledger.admits(state, now: now) else { continue }
        ledger.charge(&state, now: now)
        charges.append(now)
      }
      for (place, first) in charges.enumerated() {
        for (count, last) in charges[place...].enumerated() {
          let refilled = (last - first).microseconds / ledger.interval.microseconds
          #expect(Int64(count + 1) <= ledger.burst + refilled, "seed \(seed)")
        }
      }
    }
  }

  @Test("a rate without a limit is never spent")
  func unlimited() {
    let ledger = rate(nil, perSeconds: 3600, burst: 1)
    var state = RateState()
    for _ in 0..<100 { ledger.charge(&state, now: Timestamp(microseconds: 9)) }
    ledger.refund(&state)
    #expect(ledger.isUnlimited && state.isFull && ledger.admits(state, now: .distantPast))
    #expect(ledger.tokensLeft(state, now: Timestamp(microseconds: 9)) == -1)
  }
}
