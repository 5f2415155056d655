/// Byte strings in one buffer, each named by a handle: a text costs its bytes, one for the length and what rounding up to
/// four takes. Places of removed texts are used again for texts of the same size.
struct TextPool {
  /// Of a text that is not there.
  static let noText: UInt32 = .max

  /// Each text: its length (one byte, or 255 and four), then the bytes.
  private(set) var bytes: ContiguousArray<UInt8> = []
  /// Free places by their size in units of four bytes.
  private var free: [Int: [UInt32]] = [:]

  /// Makes room for this many bytes.
  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  /// Stores a text.
  /// - Returns: its handle: its place in units of four bytes.
  mutating func insert(_ text: Span<UInt8>) -> UInt32 {
    let count = text.count
    let units = Self.units(count)
    if let handle = free.isEmpty ? nil : free[units]?.popLast() {
      var place = Int(handle) * 4
      writeLength(count, at: &place)
      for i in text.indices { bytes[place + i] = text[i] }
      return handle
    }
    let start = bytes.count
    // Capacity that was never written takes no memory.
    if bytes.capacity < start + units * 4 { bytes.reserveCapacity(start + max(units * 4, 4096, start)) }
    if count < 255 {
      bytes.append(UInt8(count))
    } else {
      bytes.append(255)
      for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }
    // The bytes live as long as the span, which outlives the call.
    unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    while bytes.count < start + units * 4 { bytes.append(0) }
    return UInt32(start / 4)
  }

  mutating func remove(_ handle: UInt32) {
    let range = range(of: handle)
    free[Self.units(range.count), default: []].append(handle)
  }

  /// Where the text stands in `bytes`.
  @inline(__always)
  func range(of handle: UInt32) -> Range<Int> {
    let start = Int(handle) * 4
    let count = Int(bytes[start])
    if count < 255 { return start + 1..<start + 1 + count }
    return longRange(start)
  }

  private func longRange(_ start: Int) -> Range<Int> {
    var count = 0
    for i in 0..<4 { count |= Int(bytes[start + 1 + i]) << (8 * i) }
    return start + 5..<start + 5 + count
  }

  /// The text, which is UTF-8 where it was put in as such.
  func string(_ handle: UInt32) -> String { String(decoding: bytes[range(of: handle)], as: UTF8.self) }

  @inline(__always)
  func isEqual(_ handle: UInt32, _ text: Span<UInt8>) -> Bool {
    let range = range(of: handle)
    guard range.count == text.count else { return false }
    var place = range.lowerBound
    for i in text.indices {
      if bytes[place] != text[i] { return false }
      place += 1
    }
    return true
  }

  private mutating func writeLength(_ count: Int, at place: inout Int) {
    if count < 255 {
      bytes[place] = UInt8(count)
      place += 1
      return
    }
    bytes[place] = 255
    for i in 0..<4 { bytes[place + 1 + i] = UInt8(truncatingIfNeeded: count >> (8 * i)) }
    place += 5
  }

  private static func units(_ count: Int) -> Int { (count + (count < 255 ? 1 : 5) + 3) / 4 }
}

/// Finds numbers by the hash of what they stand for: an open-addressing table, half to four fifths full. It holds the
/// hashes, so it grows without looking at the texts.
///
/// The hash is seeded anew in each process, so nobody outside can make places collide; where a number stands decides
/// nothing.
struct HashIndex {
  /// The hash in the upper half, the number in the lower; `empty` where there is none. Sorted by hash but for what linear
  /// probing moves on.
  private var places: ContiguousArray<UInt64> = []
  private(set) var count = 0

  private static let empty = UInt64.max
  private static let capacityMin = 16

  static func hash(_ text: Span<UInt8>) -> UInt32 {
    var hasher = Hasher()
    // The bytes live as long as the span, which outlives the call.
    unsafe text.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  @inline(__always)
  private func home(_ hash: UInt32) -> Int { Int((UInt64(hash) &* UInt64(places.count)) >> 32) }

  /// The number with this hash for which `matches` holds.
  @inline(__always)
  func find(_ hash: UInt32, where matches: (UInt32) -> Bool) -> UInt32? {
    if places.isEmpty { return nil }
    var place = home(hash)
    while true {
      let entry = places[place]
      if entry == Self.empty { return nil }
      if UInt32(truncatingIfNeeded: entry >> 32) == hash, matches(UInt32(truncatingIfNeeded: entry)) {
        return UInt32(truncatingIfNeeded: entry)
      }
      place += 1
      if place == places.count { place = 0 }
    }
  }

  /// What `find` looks at first: the number there may be another's. Nil where there is none.
  @inline(__always)
  func candidate(_ hash: UInt32) -> UInt32? {
    if places.isEmpty { return nil }
    let entry = places[home(hash)]
    return entry == Self.empty ? nil : UInt32(truncatingIfNeeded: entry)
  }

  /// Adds a number below `UInt32.max` that is not there yet.
  mutating func insert(_ number: UInt32, hash: UInt32) {
    if (count + 1) * 5 > places.count * 4 { grow() }
    put(UInt64(hash) << 32 | UInt64(number))
    count += 1
  }

  private mutating func put(_ entry: UInt64) {
    var place = home(UInt32(truncatingIfNeeded: entry >> 32))
    while places[place] != Self.empty {
      place += 1
      if place == places.count { place = 0 }
    }
    places[place] = entry
  }

  private mutating func grow() { resize(to: max(Self.capacityMin, places.count + places.count / 2)) }

  /// Makes room for this many numbers.
  mutating func reserve(_ count: Int) {
    if count * 5 > places.count * 4 { resize(to: count * 5 / 4 + 1) }
  }

  private mutating func resize(to capacity: Int) {
    let old = places
    places = ContiguousArray(repeating: Self.empty, count: capacity)
    for entry in old where entry != Self.empty { put(entry) }
  }

  /// Removes a number that is there.
  mutating func remove(_ number: UInt32, hash: UInt32) {
    let wanted = UInt64(hash) << 32 | UInt64(number)
    var hole = home(hash)
    while places[hole] != wanted {
      precondition(places[hole] != Self.empty, "what is removed is in the index")
      hole += 1
      if hole == places.count { hole = 0 }
    }
    // Moves back whatever probing had moved past the hole.
    var place = hole
    while true {
      place += 1
      if place == places.count { place = 0 }
      let entry = places[place]
      if entry == Self.empty { break }
      let home = home(UInt32(truncatingIfNeeded: entry >> 32))
      let stays = hole <= place ? home > hole && home <= place : home > hole || home <= place
      if !stays {
        places[hole] = entry
        hole = place
      }
    }
    places[hole] = Self.empty
    count -= 1
  }

  /// Bytes of the table.
  var bytes: Int { places.heldBytes }
}

/// Texts that many refer to, each stored once as long as somebody does.
struct SharedTexts {
  private var handles: ContiguousArray<UInt32> = []
  private var references: ContiguousArray<UInt32> = []
  private var index = HashIndex()
  private var free: [UInt32] = []

  var count: Int { index.count }

  /// The number of a text that somebody refers to.
  func number(of text: String, in texts: TextPool) -> UInt32? {
    let utf8 = text.utf8.span
    return index.find(HashIndex.hash(utf8)) { texts.isEqual(handles[Int($0)], utf8) }
  }

  /// Refers to a text once more.
  mutating func retain(_ text: Span<UInt8>, in texts: inout TextPool) -> UInt32 {
    let hash = HashIndex.hash(text)
    if let number = index.find(hash, where: { texts.isEqual(handles[Int($0)], text) }) {
      references[Int(number)] += 1
      return number
    }
    let handle = texts.insert(text)
    let number: UInt32
    if let unused = free.popLast() {
      number = unused
      handles[Int(number)] = handle
      references[Int(number)] = 1
    } else {
      number = UInt32(handles.count)
      handles.makeRoom()
      references.makeRoom()
      handles.append(handle)
      references.append(1)
    }
    index.insert(number, hash: hash)
    return number
  }

  /// Refers to it once less; the last one lets it go.
  mutating func release(_ number: UInt32, in texts: inout TextPool) {
    references[Int(number)] -= 1
    guard references[Int(number)] == 0 else { return }
    let handle = handles[Int(number)]
    index.remove(number, hash: HashIndex.hash(texts.bytes.span.extracting(texts.range(of: handle))))
    texts.remove(handle)
    free.append(number)
  }

  @inline(__always)
  func handle(_ number: UInt32) -> UInt32 { handles[Int(number)] }

  /// Bytes of the tables, without the texts.
  var bytes: Int { index.bytes + handles.heldBytes + references.heldBytes }
}
