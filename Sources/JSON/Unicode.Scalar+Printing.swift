extension Unicode.Scalar {
  /// Whether the character is escaped in all text that people look at: on terminals, in logs, and in JSON files.
  ///
  /// These are: C0 controls with tab and line feed, DEL, C1 controls, U+2028 and U+2029; the characters that reorder
  /// text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069); and the format characters that nobody sees
  /// (U+00AD, U+180E, U+200B to U+200D, U+2060 to U+206F, U+FEFF, U+1BCA0 to U+1BCA3, U+1D173 to U+1D17A, and the tags
  /// U+E0000 to U+E007F).
  public var isUnprintable: Bool {
    switch value {
    case 0...0x1f, 0x7f...0x9f, 0xad, 0x61c, 0x180e, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff: true
    case 0x1_bca0...0x1_bca3, 0x1_d173...0x1_d17a, 0xe_0000...0xe_007f: true
    default: false
    }
  }
}
