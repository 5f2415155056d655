import Domain
import Testing
import Verification

/// Decisions and commands may come from files of unknown origin, so a number may be any that its type can hold.
@Suite("numbers at the ends of their range")
struct ExtremeNumberTests {
  private static let policy = PolicyReference(version: "1", hash: "0123456789abcdef")
  private static let extremes = [Int.min, Int.min + 1, -1, 0, 1, Int.max - 1, Int.max]

  /// Checks one command for each number of tokens, a second apart, all charged to one ledger.
  private func report(
    _ lefts: [Int], of ledger: Command.Ledger, limits: LedgerLimits, refundsAllowed: Bool = false,
    at start: Int64 = 1_782_907_200_000_000
  ) throws -> LedgerReport {
    var check = LedgerCheck(limits: [Self.policy.hash: limits], refundsAllowed: refundsAllowed)
    for (i, left) in lefts.enumerated() {
      let at = Timestamp(microseconds: start + Int64(i) * 1_000_000)
      check.add(
        command: Command(
          command: "c-0-\(i)-0", device: "d", app: "a", environment: .production, surface: .widget,
          serves: [Command.Served(instance: "w", kind: "K", events: ["e\(i)"], reason: .emitted)],
          charged: [Command.Charge(ledger: ledger, owner: "w", left: left)],
          apns: Command.APNs(address: .token("aa"), headers: [], payload: "{}"), at: at, expires: at,
          policy: Self.policy
        ).json(), place: "commands")
      check.add(
        decision: Decision(
          decision: "d-0-\(i)-1", event: "e\(i)", events: ["e\(i)"], device: "d", instance: "w", kind: "K",
          surface: .widget, verdict: .emit, reason: .emitted, final: true, at: at, relevance: 1, wrong: 1, looks: 1,
          value: 1, price: 1,
          tokensLeft: Decision.TokensLeft(), command: "c-0-\(i)-0", policy: Self.policy
        ).json(), place: "decisions")
    }
    return try check.finish()
  }

  @Test(
    "a ledger that jumps from one end of the numbers to the other is broken, and stops nothing", arguments: extremes)
  func days(perDay: Int) throws {
    for isRolling in [false, true] {
      for refundsAllowed in [false, true] {
        let limits = LedgerLimits(days: ["K": LedgerLimits.DailyNumber(perDay: perDay, isRolling: isRolling)])
        for first in Self.extremes {
          for second in Self.extremes {
            let report = try report([first, second, 5], of: .instance, limits: limits, refundsAllowed: refundsAllowed)
            #expect(report.commands == 3 && report.charges == 3)
            // No new window and no charge of one token explains three numbers from this list in a row.
            // A rolling day is not checked where refunds are allowed.
            let isChecked = !isRolling || !refundsAllowed
            #expect(!isChecked || report.violationCount > 0 || report.refunds > 0, "\(perDay) \(first) \(second)")
          }
        }
      }
    }
  }

  @Test("refunds are counted up to the largest number")
  func refunds() throws {
    let limits = LedgerLimits(days: ["K": LedgerLimits.DailyNumber(perDay: 5, isRolling: false)])
    let report = try report(
      [0, .max, 0, .max, 0, .max], of: .instance, limits: limits, refundsAllowed: true)
    #expect(report.refunds == .max)
  }

  @Test("a rate of one token in thousands of years does not overflow", arguments: [1, 3, Int.max])
  func rates(burst: Int) throws {
    for window in [1, 777_600_000_000_000_000, Int64.max] {
      let limits = LedgerLimits(
        rates: [.device: [LedgerLimits.RateLimit(limit: 1, windowMicroseconds: window, burst: burst)]])
      for refundsAllowed in [false, true] {
        let lefts = Array(repeating: burst - 1, count: 20)
        let report = try report(lefts, of: .device, limits: limits, refundsAllowed: refundsAllowed)
        #expect(report.chargesRecomputed == 20)
        for left in Self.extremes {
          _ = try self.report([left, left, left], of: .device, limits: limits, refundsAllowed: refundsAllowed)
        }
      }
    }
  }

  @Test("the rate's books are exact where 64 bits are not enough")
  func exact() throws {
    let limits = LedgerLimits(
      rates: [.device: [LedgerLimits.RateLimit(limit: 1, windowMicroseconds: 777_600_000_000_000_000, burst: 30)]])
    // Nothing is refilled for thousands of years, so each charge takes one token.
    let right = try report((0..<30).map { 29 - $0 }, of: .device, limits: limits)
    #expect(right.violationCount == 0 && right.chargesRecomputed == 30, "\(right.text)")
    #expect(try report((0..<31).map { 29 - $0 }, of: .device, limits: limits).violationsByRule[.overspent] != nil)
  }

  @Test("days of the first and the last year that a record can name are days like others")
  func ends() throws {
    let limits = LedgerLimits(days: ["K": LedgerLimits.DailyNumber(perDay: 5, isRolling: false)])
    // 0000-01-01 and nearly 9999-12-31, in microseconds.
    for start: Int64 in [-62_167_219_200_000_000, 253_402_300_700_000_000] {
      let report = try report([4, 3, 2], of: .instance, limits: limits, at: start)
      #expect(report.violationCount == 0, "\(report.text)")
    }
  }
}
