import Domain

/// Numbers of the few names that many records repeat (apps, zones, kinds), found by their bytes. Making a string of each
/// would cost more than reading the rest of the record.
struct NameNumbers {
  private var names: [(name: [UInt8], number: UInt32)] = []
  private var index = HashIndex()
  /// The name that was asked for last; neighbouring records often have the same.
  private var last = 0

  /// Returns the number of a name.
  /// - Parameter first: Returns the number of a name that comes for the first time.
  mutating func number(of name: Span<UInt8>, first: (String) -> UInt32) -> UInt32 {
    if last < names.count, Self.isEqual(names[last].name, name) { return names[last].number }
    let hash = HashIndex.hash(name)
    if let place = index.find(hash, where: { Self.isEqual(names[Int($0)].name, name) }) {
      last = Int(place)
      return names[last].number
    }
    var bytes: [UInt8] = []
    for i in name.indices { bytes.append(name[i]) }
    let number = first(String(decoding: bytes, as: UTF8.self))
    last = names.count
    index.insert(UInt32(last), hash: hash)
    names.append((bytes, number))
    return number
  }

  private static func isEqual(_ known: [UInt8], _ name: Span<UInt8>) -> Bool {
    guard known.count == name.count else { return false }
    for i in name.indices where known[i] != name[i] { return false }
    return true
  }
}
