import Domain

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
