import Domain

/// Counts texts, and keeps the order in which they were first added. The texts lie in one run of bytes, so that counting a known one
/// allocates nothing.
struct NameCounts {
  private var bytes: [UInt8] = []
  /// The end of each text in `bytes`.
  private var ends: [Int] = []
  /// The number of times that each text was added.
  private(set) var counts: [Int] = []
  /// The number of a text at the place of its hash, or behind it; −1 for a free place. The size is a power of two, and half of it stays free.
  private var slots = [Int32](repeating: -1, count: 64)
  /// The number of the text that was added last: often the next one is the same.
  private var last = 0

  /// The number of distinct texts.
  var distinct: Int { ends.count }

  /// Returns a text.
  ///
  /// - Parameter number: The number of the text, in the order of first adding.
  func name(_ number: Int) -> Identifier { Identifier(decoding: Array(bytes[place(number)])) }

  /// Counts a text.
  ///
  /// - Parameters:
  ///   - name: The text in UTF-8.
  ///   - count: The number of times.
  mutating func add(_ name: Span<UInt8>, _ count: Int = 1) {
    if last < ends.count, isEqual(last, name) {
      counts[last] = counts[last].addingSaturating(count)
      return
    }
    var slot = Self.hash(name) & (slots.count - 1)
    while slots[slot] >= 0 {
      let number = Int(slots[slot])
      if isEqual(number, name) {
        counts[number] = counts[number].addingSaturating(count)
        last = number
        return
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    last = ends.count
    slots[slot] = Int32(last)
    for at in name.indices { bytes.append(name[at]) }
    ends.append(bytes.count)
    counts.append(count)
    if ends.count * 2 > slots.count { grow() }
  }

  /// Returns the number of a text; nil if it was not added.
  func number(of name: Identifier) -> Int? {
    let name = Array(name.utf8)
    var slot = Self.hash(name.span) & (slots.count - 1)
    while slots[slot] >= 0 {
      if isEqual(Int(slots[slot]), name.span) { return Int(slots[slot]) }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Returns the numbers of the texts with the greatest counts, the greatest first, and of equal ones the one that was added first.
  ///
  /// - Parameters:
  ///   - limit: The most numbers to return.
  ///   - place: The last of those that are left out, with its count; nil for none. A text that is not there any more comes before all others of its
  ///     count.
  func greatest(_ limit: Int, after place: (count: Int, name: Identifier)? = nil) -> [Int] {
    var best: [Int] = []
    guard limit > 0 else { return best }
    let last = place.map { (count: $0.count, number: number(of: $0.name) ?? -1) }
    for number in counts.indices {
      if let last, (counts[number], -number) >= (last.count, -last.number) { continue }
      if best.count == limit, let worst = best.last, counts[number] <= counts[worst] { continue }
      var (low, high) = (0, best.count)
      while low < high {
        let middle = (low + high) / 2
        if counts[best[middle]] >= counts[number] { low = middle + 1 } else { high = middle }
      }
      best.insert(number, at: low)
      if best.count > limit { best.removeLast() }
    }
    return best
  }

  private func place(_ number: Int) -> Range<Int> { (number == 0 ? 0 : ends[number - 1])..<ends[number] }

  private func isEqual(_ number: Int, _ name: Span<UInt8>) -> Bool {
    bytes.span.extracting(place(number)).isEqual(to: name)
  }

  /// Returns a hash that another process does not know, so that nobody can choose texts with the same one.
  private static func hash(_ name: Span<UInt8>) -> Int {
    var hasher = Hasher()
    var word: UInt64 = 0
    for at in name.indices {
      word = word << 8 | UInt64(name[at])
      if at & 7 == 7 {
        hasher.combine(word)
        word = 0
      }
    }
    hasher.combine(word)
    hasher.combine(name.count)
    return hasher.finalize()
  }

  private mutating func grow() {
    slots = [Int32](repeating: -1, count: slots.count * 2)
    for number in ends.indices {
      var slot = Self.hash(bytes.span.extracting(place(number))) & (slots.count - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(number)
    }
  }

  // MARK: Stored form

  /// The stored form: the number of texts, and for each the number of first bytes that it shares with the one before, the number of
  /// further bytes, these, and the count.
  var encoded: [UInt8] {
    var out = BinaryWriter()
    out.count(distinct)
    var before = 0..<0
    for number in counts.indices {
      let place = place(number)
      var shared = 0
      while shared < min(before.count, place.count),
        bytes[before.lowerBound + shared] == bytes[place.lowerBound + shared]
      {
        shared += 1
      }
      out.count(shared)
      out.count(place.count - shared)
      out.text(utf8: bytes.span.extracting(place.lowerBound + shared..<place.upperBound))
      out.count(counts[number])
      before = place
    }
    return out.bytes
  }

  /// Adds the counts of a stored form.
  ///
  /// - Throws: `BinaryError` for bytes that `encoded` did not give.
  mutating func add(encoded: [UInt8]) throws(BinaryError) {
    var from = BinaryReader(encoded)
    var name: [UInt8] = []
    for _ in 0..<(try from.count("a number of names")) {
      let shared = try from.varint("a number of bytes")
      guard shared <= UInt64(name.count) else {
        throw .corrupt(offset: from.offset, what: "at most \(name.count) shared bytes")
      }
      let rest = try from.blobPlace("a name")
      name.removeLast(name.count - Int(shared))
      name += encoded[rest]
      let count: Int = try from.integer("a count")
      add(name.span, count)
    }
    try from.end()
  }
}
