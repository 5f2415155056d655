/// The finding about one charge that was entered in a ledger's book.
enum BookFinding: Equatable {
  /// The charge agrees with those before it, as far as the records tell.
  case consistent
  /// This number of tokens came back, which is allowed.
  case refunded(Int128)
  /// The charge breaks a rule. The text gives the figures, without the name of the ledger.
  case violation(LedgerReport.Rule, String)
}
