/// Which fingerprints stand behind an interest key, in the lowest two bits of its length.
enum FingerprintForm: UInt64 {
  case neither, current
  /// What is shown is what is current: one stands for both.
  case same
  /// `shown`, then `current`.
  case both

  init(shown: UInt64, current: UInt64) {
    self = shown == current ? (current == 0 ? .neither : .same) : shown == 0 ? .current : .both
  }
}
