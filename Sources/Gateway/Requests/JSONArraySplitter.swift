/// Finds the elements of a JSON array in its bytes, so that each can be passed on as it was written.
enum JSONArraySplitter {
  /// Returns the places of the elements.
  ///
  /// - Parameters:
  ///   - bytes: A document that a reader has accepted as an array.
  ///   - count: The number of its elements.
  /// - Returns: The place of each element, in order.
  static func places(in bytes: [UInt8], count: Int) -> [Range<Int>] {
    guard count > 0, let open = bytes.firstIndex(of: UInt8(ascii: "[")) else { return [] }
    var places: [Range<Int>] = []
    places.reserveCapacity(count)
    var (depth, isInString, isEscaped) = (0, false, false)
    var start = open + 1
    for at in open + 1..<bytes.count {
      let byte = bytes[at]
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]") where depth == 0:
        places.append(start..<at)
        return places
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ",") where depth == 0:
        places.append(start..<at)
        start = at + 1
      default: break
      }
    }
    return places
  }
}
