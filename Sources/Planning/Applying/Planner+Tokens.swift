import Domain

/// Each token belongs to one device of its environment and app: to the one that registered it last.
///
/// An install that is restored from a backup, or reinstalled, may keep its token under another device id. Without an owner the same
/// phone would get each push twice, and a push that one of the two devices is charged for would reload the widgets of both.
extension Planner {
  /// Returns the tokens to which pushes for a device are sent, in lower case.
  func tokens(of device: DeviceSlot) -> [String] {
    let pair = registry.tokens(of: device)
    var tokens: [String] = []
    if let token = pair.widgets { tokens.append(token) }
    if let token = pair.background { tokens.append(token) }
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if let token = ownToken(of: instance) { tokens.append(token) }
    }
    return tokens
  }

  /// Returns the token that an instance does not share with its device; nil if it has none.
  private func ownToken(of instance: InstanceSlot) -> String? {
    let state = registry.instances[instance]
    guard state.surface != .widget, !state.flags.contains(.retired), let address = registry.addressed[instance],
      !address.isChannel, !address.token.isEmpty
    else { return nil }
    return address.token
  }

  /// Settles to whom the tokens of a device belong that it did not hold before its registration: to the device of the newer
  /// registration. Of two registrations of one time, the one that comes later in the log is the newer one.
  /// - Parameters:
  ///   - device: The device, whose instances are not counted at the moment.
  ///   - before: The tokens that it held before in the same environment and app.
  mutating func settleTokens(of device: DeviceSlot, before: [String]) {
    for token in tokens(of: device) where !before.contains(token) {
      guard let other = owner(of: token, besides: device) else { continue }
      if registry.devices[other].updatedAt > registry.devices[device].updatedAt {
        takeAway(token, from: device)
      } else {
        countInstances(of: other, by: -1)
        takeAway(token, from: other)
        countInstances(of: other, by: 1)
        touch(other)
      }
    }
  }

  /// Takes a token away from a device, which must be indexed. What waits on its instances ends when it is examined next.
  private mutating func takeAway(_ token: String, from device: DeviceSlot) {
    tokenOwners.remove(tokens(of: device), of: device)
    registry.remove(token: token, of: device)
    tokenOwners.add(tokens(of: device), of: device)
  }

  /// Returns the other device that holds a token in the environment and the app of a device; nil if there is none.
  private func owner(of token: String, besides device: DeviceSlot) -> DeviceSlot? {
    let state = registry.devices[device]
    return tokenOwners.device(with: token) { other in
      let otherState = registry.devices[other]
      return other != device && otherState.app == state.app
        && otherState.flags.contains(.production) == state.flags.contains(.production)
        && tokens(of: other).contains(token)
    }
  }

  /// Makes the index of tokens, after a restore.
  mutating func indexTokens() {
    for device in registry.devices.slots where registry.isUsed(device) {
      tokenOwners.add(tokens(of: device), of: device)
    }
  }

  /// Traps unless each token is found by the index, and belongs to one device. For tests.
  func checkTokens() {
    var count = 0
    for device in registry.devices.slots where registry.isUsed(device) {
      for token in tokens(of: device) {
        precondition(owner(of: token, besides: device) == nil, "a token belongs to two devices")
        let found = tokenOwners.device(with: token) { $0 == device }
        precondition(found == device, "a token does not find its device")
        count += 1
      }
    }
    precondition(count == tokenOwners.count, "a token of no device")
  }
}
