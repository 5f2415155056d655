import Domain

/// Numbers of the few names that many records repeat (apps, zones, kinds), found by their bytes: making a text of each
/// would cost more than reading the rest of the record.
struct NameNumbers {
  private var names: [(name: [UInt8], number: UInt32)] = []
  private var index = HashIndex()
  /// Neighbours often have the same.
  private var last = 0

  /// The number of a name.
  /// - Parameter first: gives the number of a name that comes for the first time.
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

/// What the records that are being restored share.
struct RestoreTables {
  /// Events are shared between the devices they wait on; records repeat them.
  var events: [RestoredEvent: UInt32] = [:]
  var apps = NameNumbers()
  var zones = NameNumbers()
  var kinds = NameNumbers()
}

/// What makes two waiting events one.
struct RestoredEvent: Hashable {
  var id: String
  var traceparent: String?
}
