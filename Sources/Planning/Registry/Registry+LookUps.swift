import Domain
import Policies

/// Look-ups that change nothing.
extension Registry {
  /// Returns the slot of a device; nil if it is not known.
  func device(named id: Identifier) -> DeviceSlot? {
    let utf8 = id.utf8.span
    return device(named: utf8, hash: HashIndex.hash(utf8))
  }

  /// Returns the id of a device.
  func id(of device: DeviceSlot) -> Identifier { texts.identifier(devices[device].id) }

  /// Returns the place of a device's id in `texts.bytes`.
  func idRange(of device: DeviceSlot) -> Range<Int> { texts.range(of: devices[device].id) }

  /// Returns the instant from which the device's own rates are full again.
  func rateEnd(of device: DeviceSlot) -> Timestamp {
    max(devices[device].pushRate.tat, devices[device].backgroundRate.tat, rare(device).startRate.tat)
  }

  /// Returns the tokens of a device.
  func tokens(of device: DeviceSlot) -> TokenPair {
    let handle = devices[device].tokens
    return handle.isAbsent ? TokenPair() : TokenPair(bytes: Array(texts.bytes[texts.range(of: handle)]))
  }

  /// Returns the instant at which the app came to the foreground; nil while it is in the background.
  func foregroundSince(_ device: DeviceSlot) -> Timestamp? {
    devices[device].flags.contains(.foreground) ? rare(device).foregroundSince : nil
  }

  /// Returns the id of an instance.
  func id(of instance: InstanceSlot) -> Identifier { texts.identifier(instanceIDs.handle(instances[instance].id)) }

  /// Returns the place of an instance's id in `texts.bytes`.
  func idRange(of instance: InstanceSlot) -> Range<Int> {
    texts.range(of: instanceIDs.handle(instances[instance].id))
  }

  /// Returns the instance of a device with an index; nil if there is none.
  func instance(at index: UInt16, of device: DeviceSlot) -> InstanceSlot? {
    var walk = instances(of: device)
    while let instance = walk.next(self) { if instances[instance].index == index { return instance } }
    return nil
  }

  /// Returns how wrong an instance's screen is by the fields that are tracked one by one. Waiting news is not included.
  @inline(__always)
  func difference(of instance: InstanceSlot) -> ScreenDistance {
    var screen = ScreenDistance()
    var walk = entries(of: instance)
    while let entry = walk.next(self) { screen.add(Double(entries[entry].screen.distance)) }
    return screen
  }

  /// Returns the text of an entry's key.
  func key(of entry: EntrySlot) -> Identifier { texts.identifier(interests.key(of: entries[entry].interest)) }

  /// The order of the entries in the lists of the interest keys.
  var entryOrder: EntryOrder { EntryOrder(entries: entries, instances: instances) }

  /// Returns the first instance of a device that has an id, retired ones included; nil if none has it.
  func find(_ id: Identifier, of device: DeviceSlot) -> InstanceSlot? {
    guard let wanted = instanceIDs.number(of: id, in: texts) else { return nil }
    var walk = instances(of: device)
    while let instance = walk.next(self) { if instances[instance].id == wanted { return instance } }
    return nil
  }

  /// Returns the number that stands for an instance id in `InstanceState.id`; nil if no instance has that id.
  func number(ofInstanceID id: Identifier) -> SharedTextNumber? { instanceIDs.number(of: id, in: texts) }
}
