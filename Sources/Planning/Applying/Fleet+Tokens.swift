import Domain

/// Each token belongs to one device of its environment and app: to the one that registered it last.
///
/// An install that is restored from a backup, or reinstalled, may keep its token under another device id. Without an owner the same
/// phone would get each push twice, and a push that one of the two devices is charged for would reload the widgets of both.
///
/// Across log partitions, the planner of a device that gets a token claims it: the claim is a log record of each other partition. A planner
/// takes a claimed token away from a device with an older registration. If its device has the newer one, it claims the token in turn. So
/// both planners come to the same end, in whatever order the registrations and the claims arrive. Of registrations with one and the same
/// time, that of the device with the greater id wins.
///
/// A token that a device keeps is not claimed again. So the cost is one record of some 100 bytes for each other partition and each new
/// device or token, and many claims share a record.
extension Fleet {
  /// Settles, after its registration, to whom the tokens of a device belong that it did not hold before: to the device of the newer
  /// registration. Of two registrations of one time, the one that comes later in the log is the newer one.
  /// - Parameters:
  ///   - device: The device, whose instances are not counted at the moment.
  ///   - before: The tokens that it held before.
  ///   - isMoved: Whether it was in another environment or app then, where tokens of the same digits are other ones.
  mutating func settleTokens(of device: DeviceSlot, before: [String], isMoved: Bool) {
    let held = registry.pushTokens(of: device)
    if held != before {
      tokenOwners.remove(before, of: device)
      tokenOwners.add(held, of: device)
    } else if !isMoved {
      return
    }
    var gained: [String] = []
    for token in held where isMoved || !before.contains(token) {
      if let other = owner(of: token, besides: device) {
        if registry.devices[other].updatedAt > registry.devices[device].updatedAt {
          takeAway(token, from: device)
          continue
        }
        countInstances(of: other, by: -1)
        takeAway(token, from: other)
        countInstances(of: other, by: 1)
        touch(other)
      }
      gained.append(token)
    }
    if !gained.isEmpty { claim(gained, for: device) }
  }

  private mutating func claim(_ tokens: [String], for device: DeviceSlot) {
    guard partitionCount > 1 else { return }
    let state = registry.devices[device]
    claims.append(
      TokenClaim(
        device: registry.id(of: device), app: ledgers.apps[state.app].id,
        environment: state.flags.contains(.production) ? .production : .sandbox, updatedAt: state.updatedAt,
        tokens: tokens.map { Identifier($0) }))
  }

  /// Takes the tokens that devices of other partitions claim from the devices that hold them by an older registration.
  mutating func receive(_ claims: [TokenClaim]) {
    for claim in claims {
      guard let app = ledgers.apps.slotByID[claim.app] else { continue }
      for token in claim.tokens {
        let holder = tokenOwners.device(with: token.text) { device in
          let state = registry.devices[device]
          return state.app == app && state.flags.contains(.production) == (claim.environment == .production)
            && registry.pushTokens(of: device).contains(token.text)
        }
        guard let holder, registry.id(of: holder) != claim.device else { continue }
        let updatedAt = registry.devices[holder].updatedAt
        if (updatedAt, registry.id(of: holder)) > (claim.updatedAt, claim.device) {
          self.claim([token.text], for: holder)
        } else {
          countInstances(of: holder, by: -1)
          takeAway(token.text, from: holder)
          countInstances(of: holder, by: 1)
          touch(holder)
        }
      }
    }
  }

  /// Takes a token away from a device, which must be indexed. What waits on its instances ends when it is examined next.
  private mutating func takeAway(_ token: String, from device: DeviceSlot) {
    tokenOwners.remove(registry.pushTokens(of: device), of: device)
    registry.remove(token: token, of: device)
    tokenOwners.add(registry.pushTokens(of: device), of: device)
  }

  /// Returns the other device that holds a token in the environment and the app of a device; nil if there is none.
  private func owner(of token: String, besides device: DeviceSlot) -> DeviceSlot? {
    let state = registry.devices[device]
    return tokenOwners.device(with: token) { other in
      let otherState = registry.devices[other]
      return other != device && otherState.app == state.app
        && otherState.flags.contains(.production) == state.flags.contains(.production)
        && registry.pushTokens(of: other).contains(token)
    }
  }

  /// Makes the index of tokens, after a restore.
  mutating func indexTokens() {
    for device in registry.devices.slots where registry.isUsed(device) {
      tokenOwners.add(registry.pushTokens(of: device), of: device)
    }
  }

  /// Traps unless each token is found by the index, and belongs to one device. For tests.
  func checkTokens() {
    var count = 0
    for device in registry.devices.slots where registry.isUsed(device) {
      for token in registry.pushTokens(of: device) {
        precondition(owner(of: token, besides: device) == nil, "a token belongs to two devices")
        let found = tokenOwners.device(with: token) { $0 == device }
        precondition(found == device, "a token does not find its device")
        count += 1
      }
    }
    precondition(count == tokenOwners.count, "a token of no device")
  }
}
