import Auditing
import Domain

/// The place and the bounds of the audit store.
struct AuditSettings: Sendable {
  var path: String
  var retention: Retention

  /// The largest number of transactions of one call of the retention, so that storing is not delayed for long.
  private static let chunksMax = 200

  init(_ settings: Settings) {
    path = settings.textOrDefault(.auditStore)
    retention = Retention(
      ageMax: .hours(Int64(settings.numberOrDefault(.auditRetention)) * 24),
      bytesMax: Int64(settings.numberOrDefault(.auditStoreSize)) << 20, chunksMax: Self.chunksMax)
  }
}
