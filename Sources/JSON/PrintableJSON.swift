/// JSON text for files and terminals. Characters that command a terminal, reorder its text or are invisible become escapes, so that the
/// text is safe to look at and means the same: DEL, C1 controls, and the characters that `PrintableText` escapes.
public enum PrintableJSON {
  /// Escapes such characters. Outside of strings JSON has none.
  /// - Parameter json: JSON text as UTF-8.
  /// - Returns: The same text if it has no such character.
  public static func escape(_ json: [UInt8]) -> [UInt8] {
    guard json.contains(where: { $0 >= 0x7f }) else { return json }
    var escaped: [UInt8] = []
    escaped.reserveCapacity(json.count + 64)
    var start = 0
    var at = 0
    while at < json.count {
      guard json[at] >= 0x7f, let (scalar, count) = control(json, at) else {
        at += 1
        continue
      }
      escaped += json[start..<at]
      let digits = String(scalar, radix: 16)
      escaped += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      at += count
      start = at
    }
    return escaped + json[start...]
  }

  /// Returns the character that begins at a place, and its bytes, if it must be escaped.
  private static func control(_ json: [UInt8], _ at: Int) -> (scalar: UInt32, bytes: Int)? {
    func next(_ offset: Int) -> UInt32 { at + offset < json.count ? UInt32(json[at + offset]) : 0 }
    switch json[at] {
    case 0x7f: return (0x7f, 1)
    case 0xc2 where next(1) <= 0x9f: return next(1) >= 0x80 ? (next(1), 2) : nil
    case 0xd8 where next(1) == 0x9c: return (0x61c, 2)
    case 0xe2:
      let scalar = 0x2000 + (next(1) & 0x3f) << 6 + next(2) & 0x3f
      switch scalar {
      case 0x200b...0x200f, 0x2028...0x202e, 0x2060, 0x2066...0x2069: return next(2) == 0 ? nil : (scalar, 3)
      default: return nil
      }
    case 0xef where next(1) == 0xbb && next(2) == 0xbf: return (0xfeff, 3)
    default: return nil
    }
  }
}
