/// The finding about one charge that was entered in a ledger's book.
enum BookFinding: Equatable {
  /// The charge agrees with the earlier ones, as far as the records show.
  case consistent
  /// The ledger regained this number of tokens, which is allowed.
  case refunded(Int128)
  /// The charge breaks a rule. The text gives the figures, without the name of the ledger.
  case violation(LedgerReport.BookRule, String)
}
