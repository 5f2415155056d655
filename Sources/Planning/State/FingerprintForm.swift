/// The fingerprints that follow an interest key in an instance's record. The form is in the lowest two bits of the key's
/// length.
enum FingerprintForm: UInt64 {
  case neither, current
  /// One fingerprint, which is both the shown and the current one.
  case same
  /// The shown fingerprint, then the current one.
  case both

  /// Returns the shortest form for two fingerprints; 0 stands for no fingerprint.
  init(shown: UInt64, current: UInt64) {
    self = shown == current ? (current == 0 ? .neither : .same) : shown == 0 ? .current : .both
  }
}
