/// An index of devices by the tokens that they hold. It takes some 12 bytes a token, and is made anew after a restart.
struct TokenOwners {
  private var index = HashIndex()

  /// The number of tokens.
  var count: Int { index.count }
  /// The bytes that the index takes in memory.
  var bytes: Int { index.bytes }

  /// Adds the tokens of a device.
  mutating func add(_ tokens: [String], of device: DeviceSlot) {
    for token in tokens { index.insert(device.number, hash: HashIndex.hash(token.utf8.span)) }
  }

  /// Removes the tokens of a device, which were added before.
  mutating func remove(_ tokens: [String], of device: DeviceSlot) {
    for token in tokens { index.remove(device.number, hash: HashIndex.hash(token.utf8.span)) }
  }

  /// Returns a device that holds a token; nil if there is none.
  /// - Parameters:
  ///   - token: The token.
  ///   - holds: Returns whether the token of a device with the same hash is this one.
  func device(with token: String, where holds: (DeviceSlot) -> Bool) -> DeviceSlot? {
    index.find(HashIndex.hash(token.utf8.span)) { holds(DeviceSlot($0)) }.map { DeviceSlot($0) }
  }
}
