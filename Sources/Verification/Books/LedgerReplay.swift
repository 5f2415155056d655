import Domain

/// Keeps the book of every ledger, charge by charge, in the order of the log.
struct LedgerReplay {
  private let limits: [Identifier: LedgerLimits]
  private let refundsAllowed: Bool
  private let historyIsCut: Bool
  private let policies: PolicySpans
  /// The report. The checks that use the replay add their own findings to it.
  var report: LedgerReport

  private var days: [LedgerName: DayBook] = [:]
  private var rates: [LedgerName: RateBook] = [:]

  /// Creates a replay without books.
  /// - Parameters:
  ///   - limits: the limits by the hash of a policy; the entry for `""` applies to every policy without an entry.
  ///   - refundsAllowed: whether tokens may come back.
  ///   - historyIsCut: whether the oldest records are missing.
  ///   - policies: all policies of the commands.
  ///   - report: the findings so far.
  init(
    limits: [Identifier: LedgerLimits], refundsAllowed: Bool, historyIsCut: Bool, policies: PolicySpans,
    report: LedgerReport
  ) {
    policies.checkInvariants()
    self.limits = limits
    self.policies = policies
    self.refundsAllowed = refundsAllowed
    self.historyIsCut = historyIsCut
    self.report = report
  }

  /// Enters a charge in the book of its ledger.
  /// - Parameters:
  ///   - charge: the next charge of its ledger in the order of the log.
  ///   - kind: the kind of the instance that the ledger belongs to; nil for other ledgers, and where it is not known.
  mutating func charge(_ charge: LedgerCharge, kind: Identifier?) {
    report.charges += 1
    let name = LedgerName(charge)
    if charge.left < 0 {
      report.add(.overspent, "\(name): \(charge.left) tokens left after \(charge.command)")
    }
    switch charge.ledger {
    case .instance, .app: chargeDay(name, charge, kind: kind)
    case .device, .background, .control, .activity, .start: chargeRate(name, charge)
    }
  }

  /// Reports the ledgers whose charges no combination of limits allows, and closes all books.
  mutating func closeBooks() {
    report.ledgers += days.count + rates.count
    for (name, book) in rates.sorted(by: { LedgerName.inOrder($0.key, $1.key) }) {
      if let (rule, text) = book.broken { report.add(rule, "\(name): \(text)") }
    }
    days.removeAll(keepingCapacity: true)
    rates.removeAll(keepingCapacity: true)
  }

  private func limits(of policy: Identifier) -> LedgerLimits? { limits[policy] ?? limits[""] }

  private mutating func chargeDay(_ name: LedgerName, _ charge: LedgerCharge, kind: Identifier?) {
    // Limits without kinds are those of an option, and say nothing about days.
    let known = limits(of: charge.policy).flatMap { $0.days.isEmpty ? nil : $0.days }
    let limit = kind.flatMap { known?[$0] }
    // The kind is known from decisions, and a push also charges instances that no decision has named.
    let mayCountTimelines = limit?.countsTimelines ?? known?.values.contains { $0.countsTimelines } ?? true
    let rolling = limit == nil && charge.ledger == .instance ? known?.values.filter(\.isRolling) : nil
    let rules = DayBook.Terms(
      limit: limit, rolling: rolling,
      mayCountTimelines: charge.ledger == .instance && mayCountTimelines, refundsAllowed: refundsAllowed,
      historyIsCut: historyIsCut, policies: policies)
    let finding: BookFinding
    if days[name] != nil {
      finding = days[name]?.enter(charge, rules) ?? .consistent
    } else {
      (days[name], finding) = DayBook.opened(by: charge, rules)
    }
    switch finding {
    case .consistent: break
    case .refunded(let tokens): report.refunds = Int(clamping: Int128(report.refunds) + tokens)
    case .violation(let rule, let text): report.add(rule, "\(name): \(text)")
    }
  }

  private mutating func chargeRate(_ name: LedgerName, _ charge: LedgerCharge) {
    let known = limits(of: charge.policy)?.rates[charge.ledger] ?? []
    guard !known.isEmpty else {
      report.chargesNotRecomputed += 1
      if limits(of: charge.policy) == nil { report.addUnknownPolicy(charge.policy) }
      rates[name]?.enterUnknown()
      return
    }
    var book = rates[name] ?? RateBook(historyIsCut: historyIsCut)
    if book.enter(charge, known, refundsAllowed: refundsAllowed) {
      report.chargesRecomputed += 1
    } else {
      report.chargesNotRecomputed += 1
    }
    rates[name] = book
  }
}

/// The name of one ledger.
struct LedgerName: Hashable {
  var ledger: Command.Ledger
  /// The device; empty for the ledger of an app. The names of other owners are unique within their device only.
  var device: Identifier
  /// The instance, device, activity or app that the ledger belongs to.
  var owner: Identifier
  /// The log partition for the ledger of an app, whose tokens are divided among the partitions; 0 for others.
  var partition: Int64

  init(_ charge: LedgerCharge) {
    let isApp = charge.ledger == .app
    ledger = charge.ledger
    device = isApp ? "" : charge.device
    owner = charge.owner
    partition = isApp ? charge.id.partition : 0
  }

  /// Whether `a` comes before `b` in the report.
  static func inOrder(_ a: LedgerName, _ b: LedgerName) -> Bool {
    (a.ledger.rawValue, a.device, a.owner, a.partition) < (b.ledger.rawValue, b.device, b.owner, b.partition)
  }
}

extension LedgerName: CustomStringConvertible {
  /// The name for the report.
  var description: String {
    let name = device.isEmpty || device == owner ? "\(owner)" : "\(device)/\(owner)"
    return "\(ledger.rawValue) ledger of \(name)"
  }
}
