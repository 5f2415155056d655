/// The result of one charge to a ledger's book.
enum BookFinding: Equatable {
  /// The charge goes together with those before it, as far as that can be known.
  case consistent
  /// Tokens came back where a refund is allowed.
  case refunded(Int128)
  /// The charge cannot have happened by the rules. `text` gives the figures, without the name of the ledger.
  case violation(LedgerReport.Rule, String)
}
