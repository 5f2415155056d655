/// Makes JSON text safe to print in files and on terminals. Characters that control a terminal, reorder its text or are
/// invisible become JSON escapes, so that the text still means the same.
public enum PrintableJSON {
  /// Escapes the characters for which `isUnprintable` holds. Outside of strings JSON has none but white space, and
  /// inside of strings it has no C0 controls, so these stay.
  /// - Parameter json: JSON text as UTF-8.
  /// - Returns: The same text if it has no such character.
  public static func escape(_ json: [UInt8]) -> [UInt8] {
    guard json.contains(where: { $0 >= 0x7f }) else { return json }
    var escaped: [UInt8] = []
    escaped.reserveCapacity(json.count + 64)
    var start = 0
    var at = 0
    while at < json.count {
      guard json[at] >= 0x7f, let (scalar, count) = scalar(json, at), scalar.isUnprintable else {
        at += 1
        continue
      }
      escaped += json[start..<at]
      for unit in String(Character(scalar)).utf16 {
        let digits = String(unit, radix: 16)
        escaped += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      }
      at += count
      start = at
    }
    return escaped + json[start...]
  }

  /// Returns the character that begins at an index, and the number of its bytes; nil if the bytes there are not UTF-8.
  private static func scalar(_ json: [UInt8], _ at: Int) -> (scalar: Unicode.Scalar, bytes: Int)? {
    let (count, first): (Int, UInt8)
    switch json[at] {
    case 0...0x7f: (count, first) = (1, json[at])
    case 0xc2...0xdf: (count, first) = (2, json[at] & 0x1f)
    case 0xe0...0xef: (count, first) = (3, json[at] & 0x0f)
    case 0xf0...0xf4: (count, first) = (4, json[at] & 0x07)
    default: return nil
    }
    guard at + count <= json.count else { return nil }
    var value = UInt32(first)
    for next in json[at + 1..<at + count] {
      guard next & 0xc0 == 0x80 else { return nil }
      value = value << 6 | UInt32(next & 0x3f)
    }
    // A longer form than needed is no UTF-8.
    guard value >= [0, 0x80, 0x800, 0x1_0000][count - 1] else { return nil }
    return Unicode.Scalar(value).map { ($0, count) }
  }
}
