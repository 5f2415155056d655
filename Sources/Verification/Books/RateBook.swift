import Domain

/// The book of a ledger with a rate, kept by the generic cell rate algorithm (GCRA). With T microseconds between two tokens,
/// the ledger's state is the theoretical arrival time (TAT) of the next charge: a charge at t is allowed if
/// t ≥ TAT − (burst − 1)·T. It sets TAT = max(t, TAT) + T and leaves ⌊(t + burst·T − TAT) / T⌋ tokens.
///
/// Two rates may hold for the ledger of a Live Activity, and a person changes which one when they allow or forbid frequent
/// updates. Commands do not say which, so the book follows every *course*: each sequence of rates that allows all charges so
/// far. There are few, because each has to agree with the tokens that every command says are left.
///
/// Times are 128 bits wide: with one token in thousands of years, 64 bits would overflow after some charges.
struct RateBook {
  /// The TAT of each course in microseconds since 1970; nil where it is not known.
  private var courses: [Int128?]
  /// The first violation that left no course, if any. The book then goes on with one new course.
  private(set) var broken: (rule: LedgerReport.BookRule, text: String)?

  /// - Parameter historyIsCut: whether charges before the first one may be missing; otherwise the ledger begins full.
  init(historyIsCut: Bool) { courses = [historyIsCut ? nil : 0] }

  /// Notes a charge under limits that are not known. The ledger is known again after a charge to a full ledger.
  mutating func enterUnknown() { courses = [nil] }

  /// Enters a charge.
  /// - Parameters:
  ///   - rates: the rates that may hold; not empty.
  ///   - refundsAllowed: whether the ledger may have regained a token since the previous charge.
  /// - Returns: whether the charge was recomputed, which it is not while no course knows its TAT.
  mutating func enter(_ charge: LedgerCharge, _ rates: [LedgerLimits.RateLimit], refundsAllowed: Bool) -> Bool {
    var next: [Int128?] = []
    var violations: [Step.Break] = []
    for tat in courses {
      for rate in rates {
        switch Self.step(from: tat, rate, charge, refundsAllowed: refundsAllowed) {
        case .to(let tat): if !next.contains(tat) { next.append(tat) }
        case .violation(let violation): violations.append(violation)
        }
      }
    }
    let isRecomputed = !violations.isEmpty || courses.contains { $0 != nil }
    if next.isEmpty, let first = violations.first {
      broken = broken ?? (first.rule, first.text)
      next = [first.tat]
    }
    courses = next
    checkInvariants()
    return isRecomputed
  }

  /// The effect of a charge on a TAT.
  private enum Step {
    /// The next TAT; nil where it is still not known.
    case to(Int128?)
    case violation(Break)

    struct Break {
      var rule: LedgerReport.BookRule
      var text: String
      /// The TAT to continue with if no course is left.
      var tat: Int128?
    }
  }

  /// Returns the effect of a charge on the TAT of one course under one rate.
  private static func step(
    from tat: Int128?, _ rate: LedgerLimits.RateLimit, _ charge: LedgerCharge, refundsAllowed: Bool
  ) -> Step {
    let now = Int128(charge.at.microseconds)
    let interval = Int128(rate.interval)
    let burst = Int128(rate.burst)
    let left = Int128(charge.left)
    guard interval > 0 else {
      let text = "charged by \(charge.command), although the policy sets no limit"
      return .violation(Step.Break(rule: .ledgerBroken, text: text, tat: tat))
    }
    // A ledger with all but one token left was full before the charge.
    guard var tat else { return .to(left == burst - 1 ? now + interval : nil) }
    func leftAfter(_ tat: Int128) -> Int128 { max(0, min(burst, (now + burst * interval - tat) / interval)) }
    /// Microseconds until the charge is allowed.
    func wait(_ tat: Int128) -> Int128 { tat - (burst - 1) * interval - now }
    // A refund shows in the tokens left. If none is left in either case, it shows in a charge that comes too early.
    if refundsAllowed, wait(tat) > 0 || leftAfter(max(now, tat) + interval) < left { tat -= interval }
    let next = max(now, tat) + interval
    if wait(tat) > 0 {
      let text = "\(charge.command) came \(wait(tat)) µs before a token was available"
      return .violation(Step.Break(rule: .overspent, text: text, tat: next))
    }
    guard leftAfter(next) == left else {
      let text = "\(left) left after \(charge.command), expected \(leftAfter(next))"
      return .violation(Step.Break(rule: .ledgerBroken, text: text, tat: next))
    }
    return .to(next)
  }

  /// Stops a debug build unless there is a course and no course is listed twice.
  func checkInvariants() {
    assert(!courses.isEmpty, "a book follows at least one course")
    assert(Set(courses).count == courses.count, "each course is listed once")
  }
}
