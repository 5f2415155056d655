import Domain

/// Keeps every ledger's book anew, charge by charge, in the order of the log.
struct LedgerReplay {
  let limits: [String: LedgerLimits]
  let refundsAllowed: Bool
  let historyIsCut: Bool
  let policies: PolicySpans
  var report: LedgerReport

  private var days: [Owner: DayBook] = [:]
  private var rates: [Owner: RateBook] = [:]

  init(
    limits: [String: LedgerLimits], refundsAllowed: Bool, historyIsCut: Bool, policies: PolicySpans,
    report: LedgerReport
  ) {
    self.limits = limits
    self.policies = policies
    self.refundsAllowed = refundsAllowed
    self.historyIsCut = historyIsCut
    self.report = report
  }

  /// Whose ledger. An app's is split over the partitions, an instance's name holds within its device.
  private struct Owner: Hashable {
    var ledger: Command.Ledger
    var device: String
    var owner: String
    var partition: Int64
  }

  /// A number for a day.
  private struct DayBook {
    var left: Int
    var policy: String
    var at: Int64
    /// Of the command that was charged last.
    var id: RecordId
    /// First charges of the two newest windows.
    var windowStarts: [Int64] = []
    /// Charges of the last 24 h, oldest first.
    var recent: [Int64] = []
  }

  /// A rate. Which of the limits is in force is not told where there are two, and changes when a person allows frequent
  /// updates, or forbids them, while the activity runs.
  private struct RateBook {
    /// TAT, by each way in which the limits explain the charges so far; nil: not known. Few, because each agrees with the
    /// tokens that were left.
    var courses: [Int128?]
    /// Set when no way was left.
    var broken: (LedgerReport.Rule, String)?
  }

  /// One token taken from one ledger by one command.
  struct Charge {
    var ledger: Command.Ledger
    var device: String
    var owner: String
    var left: Int
    /// µs
    var at: Int64
    /// Hash of the policy.
    var policy: String
    /// Of the command.
    var id: RecordId

    var command: String { id.text(of: .command) }
  }

  /// - Parameter kind: of the instance, if its ledger is charged and the kind is known.
  mutating func charge(_ charge: Charge, kind: String?) {
    report.charges += 1
    let isApp = charge.ledger == .app
    let owner = Owner(
      ledger: charge.ledger, device: isApp ? "" : charge.device, owner: charge.owner,
      partition: isApp ? charge.id.partition : 0)
    if charge.left < 0 {
      report.add(.overspent, "\(Self.describe(owner)): \(charge.left) tokens left after \(charge.command)")
    }
    switch charge.ledger {
    case .instance, .app: chargeDay(owner, charge, kind: kind)
    case .device, .background, .control, .activity, .start: chargeRate(owner, charge)
    }
  }

  /// Reports what stayed broken under every limit that might have held, and forgets all ledgers.
  mutating func closeBooks() {
    report.ledgers += days.count + rates.count
    for (_, book) in rates.sorted(by: { Self.inOrder($0.key, $1.key) }) {
      if let (rule, text) = book.broken { report.add(rule, text) }
    }
    days.removeAll(keepingCapacity: true)
    rates.removeAll(keepingCapacity: true)
  }

  private static func inOrder(_ a: Owner, _ b: Owner) -> Bool {
    (a.ledger.rawValue, a.device, a.owner, a.partition) < (b.ledger.rawValue, b.device, b.owner, b.partition)
  }

  private static func describe(_ owner: Owner) -> String {
    let name = owner.device.isEmpty || owner.device == owner.owner ? owner.owner : "\(owner.device)/\(owner.owner)"
    return "\(owner.ledger.rawValue) ledger of \(name)"
  }

  private func limits(of policy: String) -> LedgerLimits? { limits[policy] ?? limits[""] }

  // MARK: Days

  private static let hour: Int64 = 3_600_000_000

  /// Within a window each charge takes one token. What goes up is a new window. A window of a local day lasts 23 h at
  /// least, the first one excepted, and may be charged first at any time in it: the window after the next one begins 23 h
  /// after this one's end at the earliest. An app's day is that of UTC.
  private mutating func chargeDay(_ owner: Owner, _ charge: Charge, kind: String?) {
    let at = charge.at
    let limit = kind.flatMap { limits(of: charge.policy)?.days[$0] }
    guard var book = days[owner] else {
      days[owner] = DayBook(
        left: charge.left, policy: charge.policy, at: at, id: charge.id, windowStarts: [at], recent: [at])
      if let limit, !historyIsCut, Int128(charge.left) != Int128(limit.perDay) - 1 {
        report.add(
          .ledgerBroken,
          "\(Self.describe(owner)): \(charge.left) left after the first charge \(charge.command), expected \(Int128(limit.perDay) - 1)"
        )
      }
      return
    }
    defer { days[owner] = book }
    let before = book.left
    let samePolicy = book.policy == charge.policy
    book.recent.removeAll { $0 <= at - 24 * Self.hour }
    book.recent.append(at)
    let (previous, previousID) = (book.at, book.id)
    (book.left, book.policy, book.at, book.id) = (charge.left, charge.policy, at, charge.id)
    if let limit, limit.isRolling {
      if samePolicy, !historyIsCut, Int128(charge.left) + Int128(book.recent.count) != Int128(limit.perDay),
        !refundsAllowed
      {
        report.add(
          .ledgerBroken,
          "\(Self.describe(owner)): \(charge.left) left after \(charge.command) and \(book.recent.count) charges in 24 h, "
            + "expected \(limit.perDay) together")
      }
      return
    }
    // What another policy gives a day is another count.
    guard samePolicy, Int128(charge.left) != Int128(before) - 1 else { return }
    if Int128(charge.left) < Int128(before) - 1 {
      // A policy without a limit for the app was in force in between: what was sent under it counts, and names no charge.
      if owner.ledger == .app, policies.hasOther(than: charge.policy, between: previousID, and: charge.id) { return }
      report.add(
        .ledgerBroken, "\(Self.describe(owner)): from \(before) to \(charge.left) tokens by \(charge.command) alone")
      return
    }
    if owner.ledger == .app {
      if at / (24 * Self.hour) == previous / (24 * Self.hour) { rise(owner, before, charge) }
      return
    }
    if book.windowStarts.count == 2, at - book.windowStarts[0] < 22 * Self.hour {
      rise(owner, before, charge)
      return
    }
    if let limit, Int128(charge.left) != Int128(limit.perDay) - 1 {
      rise(owner, before, charge)
      return
    }
    book.windowStarts = Array((book.windowStarts + [at]).suffix(2))
  }

  /// Tokens came back in the middle of a window.
  private mutating func rise(_ owner: Owner, _ before: Int, _ charge: Charge) {
    if refundsAllowed {
      report.refunds = Int(clamping: Int128(report.refunds) + Int128(charge.left) - Int128(before) + 1)
      return
    }
    report.add(
      .overspent,
      "\(Self.describe(owner)): from \(before) to \(charge.left) tokens by \(charge.command), in the middle of a window"
    )
  }

  // MARK: Rates

  private mutating func chargeRate(_ owner: Owner, _ charge: Charge) {
    let known = limits(of: charge.policy)
    let rates: [LedgerLimits.Rate] =
      switch owner.ledger {
      case .device: known?.device.map { [$0] } ?? []
      case .background: known?.background.map { [$0] } ?? []
      case .control: known?.control.map { [$0] } ?? []
      case .start: known?.start.map { [$0] } ?? []
      case .activity: known?.activity ?? []
      case .instance, .app: []
      }
    guard !rates.isEmpty else {
      report.chargesNotRecomputed += 1
      // What was charged under limits that nobody gave: the ledger is known again once it was full.
      self.rates[owner]?.courses = [nil]
      return
    }
    var book = self.rates[owner] ?? RateBook(courses: [historyIsCut ? nil : 0])
    var next: [Int128?] = []
    var broken: [Step.Break] = []
    for tat in book.courses {
      for rate in rates {
        switch step(from: tat, rate, owner, charge) {
        case .to(let tat): if !next.contains(tat) { next.append(tat) }
        case .breaks(let failure): broken.append(failure)
        }
      }
    }
    if next.isEmpty, let first = broken.first {
      book.broken = book.broken ?? (first.rule, first.text)
      next = [first.tat]
    }
    let isRecomputed = !broken.isEmpty || book.courses.contains { $0 != nil }
    if isRecomputed { report.chargesRecomputed += 1 } else { report.chargesNotRecomputed += 1 }
    book.courses = next
    self.rates[owner] = book
  }

  /// What a charge makes of a TAT.
  private enum Step {
    /// Nil: not known still.
    case to(Int128?)
    case breaks(Break)

    struct Break {
      var rule: LedgerReport.Rule
      var text: String
      /// To go on with.
      var tat: Int128?
    }
  }

  /// In 128 bits, because the numbers come from outside: a token in thousands of years overflows 64 after some charges.
  /// Admissible iff t ≥ TAT − τ; then TAT = max(t, TAT) + T, and ⌊(t + burst·T − TAT) / T⌋ are left.
  private func step(from tat: Int128?, _ rate: LedgerLimits.Rate, _ owner: Owner, _ charge: Charge) -> Step {
    let (now, burst, interval) = (Int128(charge.at), Int128(rate.burst), Int128(rate.interval))
    func breaks(_ rule: LedgerReport.Rule, _ text: String, _ tat: Int128?) -> Step {
      .breaks(Step.Break(rule: rule, text: "\(Self.describe(owner)): \(text)", tat: tat))
    }
    guard interval > 0 else { return breaks(.ledgerBroken, "charged by \(charge.command) without a limit", tat) }
    // A ledger with all but one token left was full before the charge.
    guard var tat else { return .to(Int128(charge.left) == burst - 1 ? now + interval : nil) }
    func left(_ tat: Int128) -> Int {
      Int(clamping: max(0, min(burst, (now + burst * interval - max(tat, now)) / interval)))
    }
    func isEarly(_ tat: Int128) -> Bool { now < tat - (burst - 1) * interval }
    // Where the last token is spent either way, only that the charge was admitted tells of a refund.
    if refundsAllowed, isEarly(tat) || left(max(now, tat) + interval) < charge.left { tat -= interval }
    let spent = max(now, tat) + interval
    if isEarly(tat) {
      let wait = tat - (burst - 1) * interval - now
      return breaks(.overspent, "\(charge.command) came \(wait) µs before a token was there", spent)
    }
    guard left(spent) == charge.left else {
      return breaks(.ledgerBroken, "\(charge.left) left after \(charge.command), expected \(left(spent))", spent)
    }
    return .to(spent)
  }
}

extension LedgerReplay.Charge {
  /// Without the id.
  var bytes: [UInt8] {
    var writer = BinaryWriter()
    writer.place(of: ledger)
    for text in [device, owner, policy] { writer.string(text) }
    for number in [Int64(left), at] { writer.zigzag(number) }
    return writer.bytes
  }

  init(_ bytes: [UInt8], id: RecordId) throws(BinaryError) {
    var reader = BinaryReader(bytes)
    ledger = try reader.value()
    device = try reader.string()
    owner = try reader.string()
    policy = try reader.string()
    left = Int(try reader.zigzag())
    at = try reader.zigzag()
    self.id = id
  }
}
