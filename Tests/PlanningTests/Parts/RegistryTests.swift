import Domain
import Testing

@testable import Planning

/// Devices, instances and keys in dictionaries and arrays: the reference for `Registry`.
private struct RegistryModel {
  struct Entry: Equatable {
    var key: Identifier
    var shown = KeyedHash.none
    var current = KeyedHash.none
  }

  struct Instance: Equatable {
    var id: Identifier
    var index: UInt16
    var retired = false
    var entries: [Entry] = []
    var lastReload = Timestamp.distantPast
    var nextReload: Timestamp?
    var token: String?
  }

  struct Device: Equatable {
    var slot: DeviceSlot
    /// By rising index.
    var instances: [Instance] = []
  }

  var devices: [Identifier: Device] = [:]

  /// Returns the listeners of each key, as (device, index of the instance), in the order of a fan-out.
  var listeners: [Identifier: [UInt64]] {
    var lists: [Identifier: [UInt64]] = [:]
    for device in devices.values {
      for instance in device.instances {
        for entry in instance.entries {
          lists[entry.key, default: []].append(UInt64(device.slot.number) << 16 | UInt64(instance.index))
        }
      }
    }
    return lists.mapValues { $0.sorted() }
  }
}

/// A random life of a `Registry`, step by step beside its model.
private struct RegistryLife {
  var random: SeededRandom
  var registry = Registry()
  var screens = Screens()
  var model = RegistryModel()
  private static let keys = [
    "", "flight/UA1", "flight/UA2", "team/roma", "città/è", Identifier(String(repeating: "k", count: 300)),
  ]

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func step() {
    guard let device = randomDevice(), random.chance(9, in: 10) else { return insertDevice() }
    let instances = model.devices[device]?.instances ?? []
    if instances.isEmpty || random.chance(1, in: 5) {
      return random.chance(4, in: 5) ? insertInstance(device) : remove(device)
    }
    let place = random.below(instances.count)
    guard let instance = slot(device, place) else { return }
    switch random.below(8) {
    case 0: retire(instance, device, place)
    case 1: removeInstance(instance, device, place)
    case 2: reload(instance, device, place)
    case 3: address(instance, device, place)
    case 4: show(instance, device, place)
    default: if !instances[place].retired { listen(instance, device, place) }
    }
  }

  private mutating func randomDevice() -> Identifier? {
    model.devices.isEmpty ? nil : model.devices.keys.sorted()[random.below(model.devices.count)]
  }

  private mutating func insertDevice() {
    let id: Identifier = "device \(random.below(12))"
    guard model.devices[id] == nil else { return }
    let taken = Set(model.devices.values.map(\.slot.number))
    let slot = registry.insertDevice(id, app: AppSlot(0))
    #expect(slot.number == (0...12).first { !taken.contains($0) }, "the smallest free slot is used")
    model.devices[id] = RegistryModel.Device(slot: slot)
  }

  private mutating func remove(_ device: Identifier) {
    guard let known = model.devices[device] else { return }
    for instance in registry.list(known.slot) {
      registry.retire(instance, screens: &screens)
      registry.unlink(instance)
      registry.remove(instance)
    }
    registry.remove(known.slot)
    model.devices[device] = nil
  }

  private mutating func insertInstance(_ device: Identifier) {
    guard var known = model.devices[device] else { return }
    let id: Identifier = "w\(random.below(5))"
    let index = (0...UInt16.max).first { index in !known.instances.contains { $0.index == index } } ?? 0
    let instance = registry.insertInstance(id, kind: KindSlot(3), surface: .widget, device: known.slot)
    #expect(registry.instances[instance].index == index, "the smallest free index is used")
    known.instances.append(RegistryModel.Instance(id: id, index: index))
    known.instances.sort { $0.index < $1.index }
    model.devices[device] = known
  }

  private func slot(_ device: Identifier, _ place: Int) -> InstanceSlot? {
    model.devices[device].map { registry.list($0.slot)[place] }
  }

  private mutating func retire(_ instance: InstanceSlot, _ device: Identifier, _ place: Int) {
    guard let known = model.devices[device]?.instances[place] else { return }
    if known.retired { registry.revive(instance) } else { registry.retire(instance, screens: &screens) }
    model.devices[device]?.instances[place].retired = !known.retired
    model.devices[device]?.instances[place].entries = []
  }

  private mutating func removeInstance(_ instance: InstanceSlot, _ device: Identifier, _ place: Int) {
    registry.retire(instance, screens: &screens)
    registry.unlink(instance)
    registry.remove(instance)
    model.devices[device]?.instances.remove(at: place)
  }

  private mutating func reload(_ instance: InstanceSlot, _ device: Identifier, _ place: Int) {
    let instant = Timestamp(microseconds: Int64(random.below(1000)))
    registry.noteReload(instance, notBefore: instant)
    model.devices[device]?.instances[place].lastReload.keepLater(instant)
    let next = random.chance(1, in: 2) ? instant + .hours(1) : nil
    registry.set(nextReload: next, instance)
    model.devices[device]?.instances[place].nextReload = next
  }

  private mutating func address(_ instance: InstanceSlot, _ device: Identifier, _ place: Int) {
    let token = random.chance(1, in: 4) ? nil : "t\(random.below(3))"
    if let token {
      registry.address(instance, token: token, isChannel: false)
    } else {
      _ = registry.takeAddress(of: instance)
    }
    model.devices[device]?.instances[place].token = token
  }

  /// Gives an entry another fingerprint, or notes a reload that shows the fingerprints of all entries.
  private mutating func show(_ instance: InstanceSlot, _ device: Identifier, _ place: Int) {
    let entries = registry.list(instance)
    if entries.isEmpty || random.chance(1, in: 3) {
      registry.markFresh(instance)
      for entry in entries.indices {
        model.devices[device]?.instances[place].entries[entry].showCurrent()
      }
    } else {
      let entry = random.below(entries.count)
      let fingerprint = KeyedHash(low: random.next(), high: random.next())
      registry[screen: entries[entry]].current = fingerprint
      model.devices[device]?.instances[place].entries[entry].current = fingerprint
    }
  }

  /// Makes the instance listen to random keys, some of them twice.
  private mutating func listen(_ instance: InstanceSlot, _ device: Identifier, _ place: Int) {
    guard let known = model.devices[device]?.instances[place].entries else { return }
    let keys = (0..<random.below(6)).map { _ in Self.keys[random.below(Self.keys.count)] }
    let gone = registry.listen(instance, to: keys, screens: &screens)
    #expect(gone.count == known.count { !keys.contains($0.key) }, "the entries that are gone are returned")
    var entries: [RegistryModel.Entry] = []
    for key in keys where !entries.contains(where: { $0.key == key }) {
      entries.append(known.first { $0.key == key } ?? RegistryModel.Entry(key: key))
    }
    model.devices[device]?.instances[place].entries = entries
  }

  /// Compares everything that can be asked with the model.
  func check(_ registry: Registry, _ context: String) {
    registry.checkInvariants()
    #expect(registry.deviceCount == model.devices.count, "\(context)")
    for number in 0..<12 {
      let id: Identifier = "device \(number)"
      #expect(registry.device(named: id) == model.devices[id]?.slot, "\(context)")
    }
    for (id, device) in model.devices {
      #expect(registry.id(of: device.slot) == id, "\(context)")
      #expect(registry.list(device.slot).map { registry.modelled($0) } == device.instances, "\(context)")
    }
    let listeners = model.listeners
    #expect(registry.interests.keyCount == listeners.count, "\(context)")
    for key in Self.keys { #expect(registry.listeners(of: key) == listeners[key] ?? [], "\(context), \(key)") }
  }

  /// Returns the registry as a restore builds it, device by device in a random order.
  mutating func restored() -> Registry {
    var copy = Registry()
    var devices = model.devices.sorted { $0.key < $1.key }
    random.shuffle(&devices)
    for (id, device) in devices {
      var state = DeviceState()
      state.flags = [.used]
      copy.restore(state, id: id.utf8.span, hash: HashIndex.hash(id.utf8.span), at: device.slot)
      var last = InstanceSlot.absent
      for instance in device.instances { last = copy.restore(instance, of: device.slot, behind: last) }
    }
    copy.finishDevices()
    copy.finishInterests()
    return copy
  }
}

extension RegistryModel.Entry {
  fileprivate mutating func showCurrent() { shown = current }
}

extension Timestamp {
  fileprivate mutating func keepLater(_ other: Timestamp) { self = max(self, other) }
}

extension Registry {
  fileprivate func list(_ device: DeviceSlot) -> [InstanceSlot] {
    var list: [InstanceSlot] = []
    var walk = instances(of: device)
    while let instance = walk.next(self) { list.append(instance) }
    return list
  }

  fileprivate func list(_ instance: InstanceSlot) -> [EntrySlot] {
    var list: [EntrySlot] = []
    var walk = entries(of: instance)
    while let entry = walk.next(self) { list.append(entry) }
    return list
  }

  fileprivate func modelled(_ instance: InstanceSlot) -> RegistryModel.Instance {
    let state = instances[instance]
    return RegistryModel.Instance(
      id: id(of: instance), index: state.index, retired: state.flags.contains(.retired),
      entries: list(instance).map {
        RegistryModel.Entry(key: key(of: $0), shown: entries[$0].screen.shown, current: entries[$0].screen.current)
      },
      lastReload: state.lastReload, nextReload: nextReload(instance), token: self[addressed: instance]?.token)
  }

  fileprivate func listeners(of key: Identifier) -> [UInt64] {
    guard let id = interests.id(of: key, in: texts) else { return [] }
    return (0..<interests.count(of: id)).map { entryOrder(interests.entry($0, of: id)) }
  }

  fileprivate mutating func restore(
    _ model: RegistryModel.Instance, of device: DeviceSlot, behind last: InstanceSlot
  ) -> InstanceSlot {
    var state = InstanceState()
    state.flags = model.retired ? [.used, .retired] : [.used]
    state.device = device
    state.index = model.index
    state.lastReload = model.lastReload
    let instance = restore(state, id: model.id.utf8.span, behind: last)
    set(nextReload: model.nextReload, instance)
    if let token = model.token { address(instance, token: token, isChannel: false) }
    var entry = EntrySlot.absent
    for known in model.entries {
      entry = restoreEntry(
        key: known.key.utf8.span, shown: known.shown, current: known.current, of: instance, behind: entry)
    }
    return instance
  }
}

@Suite("The registry of devices")
struct RegistryTests {
  @Test("the registry equals dictionaries after random steps")
  func model() {
    for seed in 1...10 as ClosedRange<UInt64> {
      var life = RegistryLife(seed: seed)
      for step in 0..<150 {
        life.step()
        life.check(life.registry, "seed \(seed), step \(step)")
      }
    }
  }

  @Test("after a restore in any order of devices the registry holds the same")
  func restore() {
    for seed in 1...10 as ClosedRange<UInt64> {
      var life = RegistryLife(seed: seed)
      for step in 0..<150 {
        life.step()
        guard step % 30 == 29 else { continue }
        life.check(life.restored(), "seed \(seed), step \(step), restored")
        life.registry = life.restored()
      }
    }
  }

  @Test("an instance behind another takes the next free index after it")
  func behind() {
    var registry = Registry()
    let device = registry.insertDevice("d1", app: AppSlot(0))
    let slots = ["a", "b", "c"].map {
      registry.insertInstance($0, kind: KindSlot(0), surface: .widget, device: device)
    }
    registry.unlink(slots[0])
    registry.remove(slots[0])
    let behind = registry.insertInstance("b", kind: KindSlot(1), surface: .control, device: device, behind: slots[1])
    #expect(registry.instances[behind].index == 3)
    let first = registry.insertInstance("d", kind: KindSlot(0), surface: .widget, device: device)
    #expect(registry.instances[first].index == 0)
    #expect(registry.list(device) == [first, slots[1], slots[2], behind])
    registry.checkInvariants()
  }

  @Test("a rejected token is dead until another one comes")
  func tokens() {
    var registry = Registry()
    let device = registry.insertDevice("d1", app: AppSlot(0))
    let now = Timestamp(microseconds: 50)
    func take(_ widgets: String?) {
      registry.takeOver(
        .phone(tokens: Registration.Tokens(widgets: widgets, background: "bb"), at: 9), device, zone: ZoneSlot(0),
        now: now)
    }
    func isDead() -> Bool { registry.devices[device].flags.contains(.widgetsTokenDead) }
    take("aa11")
    #expect(registry.tokens(of: device).widgets == "aa11" && registry.tokens(of: device).background == "bb")
    registry.reject(token: "cc", of: device)
    #expect(!isDead())
    registry.reject(token: "aa11", of: device)
    #expect(isDead())
    take("aa11")
    #expect(isDead())
    take("aa22")
    #expect(!isDead())
  }

  @Test("the backend's clock does not reach beyond log time")
  func updatedAt() {
    var registry = Registry()
    let device = registry.insertDevice("d1", app: AppSlot(0))
    for (updatedAt, now, expected) in [(90, 100, 90), (500, 100, 100)] as [(Int64, Int64, Int64)] {
      registry.takeOver(.phone(at: updatedAt), device, zone: ZoneSlot(0), now: Timestamp(microseconds: now))
      #expect(registry.devices[device].updatedAt.microseconds == expected)
    }
  }

  @Test("state that few devices have takes no memory when it is as at the beginning")
  func rareState() {
    var registry = Registry()
    let device = registry.insertDevice("d1", app: AppSlot(0))
    #expect(registry.foregroundSince(device) == nil)
    registry.set(foregroundSince: Timestamp(microseconds: 7), of: device)
    #expect(registry.foregroundSince(device)?.microseconds == 7 && registry.rareStates.count == 1)
    registry.set(foregroundSince: nil, of: device)
    #expect(registry.foregroundSince(device) == nil && registry.rareStates.isEmpty)
    registry[startRate: device] = RateState(tat: Timestamp(microseconds: 9))
    #expect(registry[startRate: device].tat.microseconds == 9 && registry.rateEnd(of: device).microseconds == 9)
    registry.remove(device)
    #expect(registry.rareStates.isEmpty && registry.deviceCount == 0)
    registry.checkInvariants()
  }

  @Test(
    "a pair of tokens of any form is read back as it was written",
    arguments: [
      nil, "", "aa11", "AA11", "abc", "not hexadecimal", String(repeating: "0f", count: 255),
      String(repeating: "0f", count: 256), "città",
    ])
  func tokenPair(_ token: String?) {
    for other in [nil, "00ff", "x"] {
      for pair in [TokenPair(widgets: token, background: other), TokenPair(widgets: other, background: token)] {
        let copy = TokenPair(bytes: pair.bytes)
        #expect([copy.widgets, copy.background].contains(token) && [copy.widgets, copy.background].contains(other))
        #expect(copy.widgets == pair.widgets && copy.background == pair.background)
        let cut = Array(pair.bytes.dropLast())
        let isWellFormed = (whole: TokenPair.isWellFormed(pair.bytes.span), cut: TokenPair.isWellFormed(cut.span))
        #expect(isWellFormed.whole == !pair.bytes.isEmpty && !isWellFormed.cut)
      }
    }
  }
}
