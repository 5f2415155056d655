extension Planner {
  /// What waits on an instance.
  @inline(__always)
  func waiting(_ instance: UInt32) -> Waiting {
    let slot = instances[instance].waiting
    return slot == none ? Waiting() : waitings[slot]
  }

  /// Slot of what waits on an instance, made if there is none.
  @inline(__always)
  mutating func waitingSlot(_ instance: UInt32) -> UInt32 {
    let slot = instances[instance].waiting
    if slot != none { return slot }
    let new = waitings.insert(Waiting())
    instances[instance].waiting = new
    return new
  }

  /// The instance need not be looked at again.
  @inline(__always)
  mutating func clearDue(_ instance: UInt32) {
    let slot = instances[instance].waiting
    guard slot != none else { return }
    waitings[slot].due = .max
    settle(instance)
  }

  /// Gives the slot back when nothing waits and no timer stands for the instance.
  @inline(__always)
  mutating func settle(_ instance: UInt32) {
    let slot = instances[instance].waiting
    guard slot != none, waitings[slot].firstCause == none, waitings[slot].due == .max, waitings[slot].armedAt == .max
    else { return }
    dropWaiting(instance)
  }

  /// Gives the slot back, whatever is in it.
  mutating func dropWaiting(_ instance: UInt32) {
    let slot = instances[instance].waiting
    guard slot != none else { return }
    waitings.remove(slot, leaving: Waiting())
    instances[instance].waiting = none
  }

  // MARK: Texts

  /// The slot of a device.
  func device(named id: String) -> UInt32? {
    let utf8 = id.utf8.span
    return device(named: utf8, hash: HashIndex.hash(utf8))
  }

  /// The same, for an id given as UTF-8.
  func device(named id: Span<UInt8>, hash: UInt32) -> UInt32? {
    deviceIndex.find(hash) { texts.isEqual(devices[$0].id, id) }
  }

  /// The id of the device in a slot.
  func deviceID(_ slot: UInt32) -> String { texts.string(devices[slot].id) }

  /// Gives the device in a slot its id.
  mutating func name(device slot: UInt32, _ id: String) {
    devices[slot].id = texts.insert(id.utf8.span)
    deviceIndex.insert(slot, hash: HashIndex.hash(id.utf8.span))
  }

  /// Lets go of the texts of the device in a slot.
  mutating func removeTexts(ofDevice slot: UInt32) {
    let id = devices[slot].id
    deviceIndex.remove(slot, hash: HashIndex.hash(texts.bytes.span.extracting(texts.range(of: id))))
    texts.remove(id)
    set(TokenPair(), device: slot)
  }

  /// The tokens of the device in a slot.
  func tokens(_ slot: UInt32) -> TokenPair {
    let handle = devices[slot].tokens
    return handle == TextPool.noText ? TokenPair() : TokenPair(bytes: Array(texts.bytes[texts.range(of: handle)]))
  }

  mutating func set(_ tokens: TokenPair, device slot: UInt32) {
    if devices[slot].tokens != TextPool.noText { texts.remove(devices[slot].tokens) }
    devices[slot].tokens = tokens.bytes.isEmpty ? TextPool.noText : texts.insert(tokens.bytes.span)
  }

  /// The id of an instance.
  func instanceID(_ instance: UInt32) -> String { texts.string(instanceIDs.handle(instances[instance].id)) }

  // MARK: Rare

  func rare(_ device: UInt32) -> RareDeviceState {
    devices[device].flags.contains(.rare) ? rareStates[device] ?? RareDeviceState() : RareDeviceState()
  }

  /// Changes what few devices have; what is as at the beginning takes no place.
  mutating func changeRare(_ device: UInt32, _ change: (inout RareDeviceState) -> Void) {
    var state = rare(device)
    change(&state)
    if state.startTAT == 0, state.foregroundSince == 0 {
      dropRare(device)
    } else {
      rareStates[device] = state
      devices[device].flags.insert(.rare)
    }
  }

  mutating func dropRare(_ device: UInt32) {
    guard devices[device].flags.contains(.rare) else { return }
    rareStates[device] = nil
    devices[device].flags.remove(.rare)
  }

  /// When the timeline of an instance reloads by itself; `.min`: not known.
  @inline(__always)
  func nextReload(_ instance: UInt32) -> Int64 {
    instances[instance].flags.contains(.reloads) ? nextReloads[instance] ?? .min : .min
  }

  mutating func set(nextReload instant: Int64, _ instance: UInt32) {
    if instant != .min {
      nextReloads[instance] = instant
      instances[instance].flags.insert(.reloads)
    } else if instances[instance].flags.contains(.reloads) {
      nextReloads[instance] = nil
      instances[instance].flags.remove(.reloads)
    }
  }
}
