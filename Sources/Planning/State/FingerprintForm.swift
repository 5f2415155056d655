/// The fingerprints that follow an interest key in an instance's record: that of what the instance shows, and that of
/// what it would show after a reload now (the current one). The form is in the lowest two bits of the number that also
/// holds the key's length.
enum FingerprintForm: UInt64 {
  /// In this order: no fingerprint; the current one only.
  case neither, current
  /// One fingerprint, which is both the shown and the current one.
  case same
  /// The shown fingerprint, then the current one.
  case both

  /// Returns the shortest form for two fingerprints, either of which may be none.
  init(shown: KeyedHash, current: KeyedHash) {
    self = shown == current ? (current.isNone ? .neither : .same) : shown.isNone ? .current : .both
  }
}
