import Domain

/// The numbers of the few names that many records repeat: apps, zones, kinds. A name is looked up by its bytes, because
/// making a `String` of each would cost more than reading the rest of the record.
struct NameNumbers {
  private var names: [(name: [UInt8], number: UInt32)] = []
  private var index = HashIndex()
  /// The index of the name that was asked for last. Neighbouring records often have the same one.
  private var last = 0

  /// Returns the number of a name.
  /// - Parameters:
  ///   - name: The name as UTF-8.
  ///   - first: Returns the number of a name that is asked for the first time.
  mutating func number(of name: Span<UInt8>, first: (Identifier) -> UInt32) -> UInt32 {
    if last < names.count, Self.isEqual(names[last].name, name) { return names[last].number }
    let hash = HashIndex.hash(name)
    if let place = index.find(hash, where: { Self.isEqual(names[Int($0)].name, name) }) {
      last = Int(place)
      return names[last].number
    }
    var bytes: [UInt8] = []
    for i in name.indices { bytes.append(name[i]) }
    let number = first(Identifier(decoding: bytes))
    last = names.count
    index.insert(UInt32(last), hash: hash)
    names.append((bytes, number))
    return number
  }

  private static func isEqual(_ known: [UInt8], _ name: Span<UInt8>) -> Bool { known.span.isEqual(to: name) }
}
