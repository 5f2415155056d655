/// The size of an entry of a chunk in one byte, rounded down: to a multiple of 16 below 2 KiB, by at most an eighth above.
///
/// Because it is rounded down, a log never counts more live bytes than there are, and keeps its bounds rather too early.
struct EntrySize {
  /// The code: the number of 16-byte units below 128; from there on eight steps for each power of two.
  let code: UInt8

  /// Makes the size from a code.
  init(code: UInt8) { self.code = code }

  /// Rounds a size down.
  /// - Parameter bytes: The size in bytes; more than 125 MB count as that.
  init(_ bytes: Int) {
    let small = 128 * 16
    guard bytes >= small else {
      code = UInt8(truncatingIfNeeded: bytes >> 4)
      return
    }
    let top = Int.bitWidth - 1 - bytes.leadingZeroBitCount
    code = UInt8(clamping: 128 + (top - 11) * 8 + (bytes >> (top - 3)) & 7)
  }

  /// The size in bytes.
  var bytes: Int {
    if code < 128 { return Int(code) << 4 }
    let step = Int(code) - 128
    return (8 + step & 7) << (8 + step >> 3)
  }
}
