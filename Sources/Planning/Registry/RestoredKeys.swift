import Domain

/// The interest keys that a restore has read and not looked up yet. Looking up many at a time lets the waits for memory overlap: a key
/// is nearly always a new one, so its place in the index is in no cache of the processor.
struct RestoredKeys {
  private struct RestoredKey {
    /// The entry. While it has the `mark` of this key, it waits for the slot of the key.
    var entry: EntrySlot
    /// The hash of the key.
    var hash: UInt32
    /// The place of the key in `bytes`.
    var place: Range<Int>
  }

  /// The number of keys at which they are looked up.
  private static let countMax = 512
  private static let marked: UInt32 = 0x8000_0000

  /// The keys, in the order in which they were read.
  private var keys: ContiguousArray<RestoredKey> = []
  /// The texts of the keys.
  private var bytes: [UInt8] = []

  /// Whether so many keys wait that they should be looked up.
  var isFull: Bool { keys.count >= Self.countMax }

  /// Returns what an entry has in place of the slot of its key while the key waits. An entry that was removed meanwhile has it no more.
  ///
  /// - Parameter index: The index of the key.
  private static func mark(_ index: Int) -> InterestSlot { InterestSlot(marked | UInt32(index)) }

  /// Adds a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - entry: The entry that listens to it, which gets the mark that this method returns.
  mutating func add(_ key: Span<UInt8>, of entry: EntrySlot) -> InterestSlot {
    let start = bytes.count
    // The span keeps the bytes alive for the whole call.
    unsafe key.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    keys.append(RestoredKey(entry: entry, hash: HashIndex.hash(key), place: start..<bytes.count))
    return Self.mark(keys.count - 1)
  }

  /// Looks up the keys that wait, and gives their slots to the entries that still listen to them.
  ///
  /// - Parameters:
  ///   - interests: The keys that are known, and get the new ones.
  ///   - texts: The pool that holds the texts of the keys.
  ///   - entries: The table of entries.
  mutating func intern(
    into interests: inout InterestIndex, _ texts: inout TextPool, for entries: inout SlotPool<EntryTag, InterestEntry>
  ) {
    prefetch(interests, texts)
    for (index, key) in keys.enumerated() where entries[key.entry].interest == Self.mark(index) {
      entries[key.entry].interest = interests.intern(bytes.span.extracting(key.place), hash: key.hash, in: &texts)
    }
    keys.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  /// Loads what the look-up of the keys needs into the processor's caches.
  private func prefetch(_ interests: borrowing InterestIndex, _ texts: borrowing TextPool) {
    for key in keys { interests.prefetch(hash: key.hash) }
    for key in keys {
      if let known = interests.candidate(key.hash) { texts.prefetch(interests.key(of: known)) }
    }
  }
}
