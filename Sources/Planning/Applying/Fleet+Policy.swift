import Domain
import Policies

extension Fleet {
  /// Applies a policy record. A document that cannot be read, for example because a newer version wrote it, changes nothing.
  mutating func activate(document: String) {
    do throws(PolicyError) {
      activate(try PolicyDocument(record: document, file: "rouse.log").policy, document: document)
    } catch {
      rules.note(refused: error)
    }
  }

  /// Puts another policy in force. Waiting causes stay and are weighed by it, and spent tokens stay spent. The screens of kinds
  /// about which it decides again are examined.
  mutating func activate(_ policy: Policy, document: String? = nil) {
    let before = rules.kinds.map { (isDecided: $0.isDecided, era: $0.era) }
    rules.beginEras(policy, offset: record.offset)
    use(policy)
    pricing.touchKinds()
    rules.note(offset: record.offset, document: document)
    journal.notePolicy()
    var returned: [KindSlot: Bool] = [:]
    for kind in before.indices where !before[kind].isDecided && rules.kinds[kind].isDecided {
      returned[KindSlot(UInt32(kind))] = before[kind].era != rules.kinds[kind].era
    }
    if !returned.isEmpty { examineScreens(of: returned) }
  }

  /// Sets the time at which the wrong screens of kinds are examined, because the policy decides about the kinds again: within ten
  /// minutes, spread over the devices.
  ///
  /// Events about a kind that the policy switches off are kept, so the differences are known. Events about a kind that it does not
  /// name are not. What the screens of such a kind show is not known afterwards, and they count as wholly wrong until a reload. The
  /// reload shows the newest state, whatever it is. A screen of which nothing was known before still counts as right, as when it
  /// is registered.
  /// - Parameter kinds: The kinds, each with whether the policy before did not name it.
  private mutating func examineScreens(of kinds: [KindSlot: Bool]) {
    for instance in registry.instances.slots where registry.isUsed(instance) {
      let state = registry.instances[instance]
      guard let isUnknown = kinds[state.kind], !state.surface.isActivity, !state.flags.contains(.retired)
      else { continue }
      if isUnknown { forgetWhatIsShown(instance) }
      catchUp(instance, at: now + state.device.spread)
      touch(state.device)
    }
  }

  /// Copies the figures of a policy into the parts that use them.
  mutating func use(_ policy: Policy) {
    for (kind, numbers) in rules.use(policy) { pricing.configure(kind, numbers) }
    ledgers.use(policy.profile)
    zones.use(policy, now: now)
    for app in ledgers.apps.slots {
      let limit = rules.appLimit(ledgers.apps[app].id, partition: partition, of: partitionCount)
      ledgers.apps.set(limit: limit, of: app)
    }
  }
}
