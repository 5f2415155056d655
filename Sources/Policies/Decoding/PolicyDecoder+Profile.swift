import Domain

extension PolicyDecoder {
  /// Reads a profile document. Every number and its source are required. Profiles are stored in logs, so a key that is
  /// added later must have a default.
  /// - Returns: the profile; nil if anything is missing or wrong, which has been noted.
  mutating func budgetProfile(_ root: Located) -> BudgetProfile? {
    let unknown = BudgetProfile.Provenance(source: "", confidence: "")
    let unread = BudgetProfile.Rate(limit: nil, window: .hours(1), burst: 1, provenance: unknown)
    var profile = BudgetProfile(
      name: "", instanceReloads: BudgetProfile.PerDay(limit: 1, minInterval: .zero, provenance: unknown),
      devicePushes: unread, backgroundPushes: unread, controlPushes: unread, activityPushes: unread,
      activityStarts: unread,
      payload: BudgetProfile.PayloadLimit(limit: .max, broadcastLimit: .max, provenance: unknown),
      payloadBands: BudgetProfile.PayloadBands(safe: 0, watch: 0, risky: 0, provenance: unknown))
    guard read(root, PolicyKeys.profile, into: &profile) != nil, !reader.hasErrors else { return nil }
    return profile
  }

  /// Reads `payloadBands`. Notes an error unless `safe`, `watch`, `risky` and `limit`, the limit of `payload`, are in
  /// rising order.
  mutating func payloadBands(_ value: Located, limit: Int, into bands: inout BudgetProfile.PayloadBands) {
    guard read(value, PolicyKeys.payloadBands, into: &bands) != nil,
      reader.wereRead(["safe", "watch", "risky", "source", "confidence"], of: value)
    else { return }
    if !(bands.safe <= bands.watch && bands.watch <= bands.risky && bands.risky <= limit) {
      reader.error(value.owner, value.path, "expected safe, watch, risky and the limit of payload in rising order")
    }
  }
}
