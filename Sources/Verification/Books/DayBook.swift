import Domain

/// The book of a ledger with a number of tokens for a day: the ledger of an instance, or that of an app in one log partition.
///
/// Tokens are added up in 128 bits, so that numbers from records cannot overflow.
struct DayBook {
  /// The facts that decide which charges are allowed.
  struct Terms {
    /// The number of tokens for a day under the policy of the charge; nil where it is not known.
    var limit: LedgerLimits.DailyNumber?
    /// The rolling days that the ledger may have, those of the policy's kinds; nil if they are not known. It counts for the ledger of an
    /// instance without a `limit` only.
    var rolling: [LedgerLimits.DailyNumber]?
    /// Whether reloads that no command led to may have taken tokens.
    var mayCountTimelines: Bool
    var refundsAllowed: Bool
    /// Whether charges before the first one may be missing.
    var historyIsCut: Bool
    var policies: PolicySpans
  }

  /// The last charge that was entered.
  private var last: LedgerCharge
  /// The times of the first charges of the two newest windows, oldest first.
  private var windowStarts: [Timestamp]
  /// The times of the charges of the 24 h up to the last one, oldest first.
  private var recent: [Timestamp]
  /// The time of the first charge.
  private let openedAt: Timestamp
  /// Whether the ledger may have a rolling day, as no charge since the last change of the policy has shown that it has none.
  private var mayRoll = true

  private init(_ charge: LedgerCharge) {
    last = charge
    openedAt = charge.at
    windowStarts = [charge.at]
    recent = [charge.at]
  }

  /// Opens a book with its first charge, which under a known limit leaves one token less than the limit, or fewer if timelines took
  /// some before.
  static func opened(by charge: LedgerCharge, _ rules: Terms) -> (book: DayBook, finding: BookFinding) {
    let book = DayBook(charge)
    guard let limit = rules.limit, !rules.historyIsCut else { return (book, .consistent) }
    let expected = Int128(limit.perDay) - 1
    if Int128(charge.left) == expected || limit.countsTimelines && Int128(charge.left) < expected {
      return (book, .consistent)
    }
    let text = "\(charge.left) left after the first charge \(charge.command), expected \(expected)"
    return (book, .violation(.ledgerBroken, text))
  }

  /// Enters a charge that is not the first. Within a window each charge takes one token; a number that rises begins a new
  /// window.
  mutating func enter(_ charge: LedgerCharge, _ rules: Terms) -> BookFinding {
    let (before, total) = (last, self.total)
    last = charge
    recent.removeAll { $0 <= charge.at - .hours(24) }
    recent.append(charge.at)
    defer { checkInvariants() }
    let samePolicy = before.policy == charge.policy
    mayRoll = !samePolicy || mayRoll && isOfRollingDay(before: total, rules)
    if let limit = rules.limit, limit.isRolling {
      return samePolicy ? checkRolling(charge, perDay: limit.perDay, rules) : .consistent
    }
    // Another policy may give another number for a day.
    guard samePolicy else { return .consistent }
    let (old, new) = (Int128(before.left), Int128(charge.left))
    if new == old - 1 { return .consistent }
    if new < old - 1 { return checkFall(charge, from: before, rules) }
    guard isNewWindow(charge, after: before, rules) else {
      return mayRoll ? .consistent : rise(charge, from: before, rules)
    }
    if charge.ledger != .app { windowStarts = Array((windowStarts + [charge.at]).suffix(2)) }
    return .consistent
  }

  /// The tokens left and the charges of the last 24 hours together: the limit of a rolling day, if nothing else took tokens.
  private var total: Int128 { Int128(last.left) + Int128(recent.count) }

  /// Returns whether the last charge is right if the ledger has a rolling day. No decision tells the kind of an instance that pushes only
  /// reload along with others.
  /// - Parameter before: `total` before that charge.
  private func isOfRollingDay(before: Int128, _ rules: Terms) -> Bool {
    guard rules.limit == nil, last.ledger == .instance else { return false }
    // The charges of 24 hours are not all known yet.
    if rules.historyIsCut, last.at - openedAt < .hours(24) { return true }
    guard let rolling = rules.rolling else { return total == before }
    return rolling.contains { total == $0.perDay || $0.countsTimelines && total < $0.perDay }
  }

  /// Checks a rolling day: the tokens left and the charges of the last 24 hours together are the limit.
  private func checkRolling(_ charge: LedgerCharge, perDay: Int, _ rules: Terms) -> BookFinding {
    guard !rules.historyIsCut, !rules.refundsAllowed else { return .consistent }
    if total == perDay || rules.limit?.countsTimelines == true && total < perDay { return .consistent }
    return .violation(
      .ledgerBroken,
      "\(charge.left) left after \(charge.command) and \(recent.count) charges in 24 h, expected \(perDay) together")
  }

  /// Checks a number of tokens that fell by more than one.
  private func checkFall(_ charge: LedgerCharge, from before: LedgerCharge, _ rules: Terms) -> BookFinding {
    if rules.mayCountTimelines { return .consistent }
    // Under a policy without a limit for the app, commands are counted in the app's ledger but carry no charge to it.
    if charge.ledger == .app, rules.policies.hasOther(than: charge.policy, between: before.id, and: charge.id) {
      return .consistent
    }
    return .violation(.ledgerBroken, "fell from \(before.left) to \(charge.left) tokens by \(charge.command) alone")
  }

  /// Whether a new window may begin with a charge. An app's window is a UTC day.
  ///
  /// The window of an instance is a day of its device's time zone. Every window but the first lasts at least 23 h, and its
  /// first charge may come at any time in it. So the first charge of a third window comes at least 23 h after the first
  /// charge of the first one; the check requires 22 h, so that a zone whose clock jumps by two hours is not reported.
  private func isNewWindow(_ charge: LedgerCharge, after before: LedgerCharge, _ rules: Terms) -> Bool {
    if charge.ledger == .app { return charge.at.seconds / 86_400 != before.at.seconds / 86_400 }
    if windowStarts.count == 2, charge.at - windowStarts[0] < .hours(22) { return false }
    guard let limit = rules.limit else { return true }
    let most = Int128(limit.perDay) - 1
    return Int128(charge.left) == most || limit.countsTimelines && Int128(charge.left) < most
  }

  /// Returns the finding about tokens that the ledger regained in the middle of a window.
  private func rise(_ charge: LedgerCharge, from before: LedgerCharge, _ rules: Terms) -> BookFinding {
    if rules.refundsAllowed { return .refunded(Int128(charge.left) - Int128(before.left) + 1) }
    return .violation(
      .overspent,
      "rose from \(before.left) to \(charge.left) tokens by \(charge.command), in the middle of a window")
  }

  /// Stops a debug build unless the book knows one or two windows and the last charge is among the recent ones.
  func checkInvariants() {
    assert((1...2).contains(windowStarts.count), "a book knows the first charges of one or two windows")
    assert(recent.last == last.at, "the last charge is the newest of the recent ones")
  }
}

/// The finding about one charge that was entered in a ledger's book.
enum BookFinding: Equatable {
  /// The charge agrees with the earlier ones, as far as the records show.
  case consistent
  /// The ledger regained this number of tokens, which is allowed.
  case refunded(Int128)
  /// The charge breaks a rule. The text gives the figures, without the name of the ledger.
  case violation(LedgerReport.BookRule, String)
}
