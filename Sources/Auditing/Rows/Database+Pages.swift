import Domain
import GRDB

extension Database {
  /// Returns a reader of the page with a sequence number; nil if there is none.
  /// - Throws: `BinaryError` for a page that this program did not write.
  func page(_ seq: Int64, words: WordReader) throws -> PageReader? {
    let row = try Row.fetchOne(self, cached: "SELECT body FROM page WHERE seq = ?", [seq])
    return try row.map { try PageReader(try $0.bytes(0), words: words) }
  }

  /// Passes every decision of a time range to `body`, in the order of storing.
  /// - Parameters:
  ///   - range: the time range.
  ///   - words: looks up the words of pages.
  ///   - body: takes a reader whose line is a decision of the range.
  func scan(_ range: TimeRange, words: WordReader, _ body: (borrowing PageReader) throws -> Void) throws {
    for block in try blocks(in: range) {
      try scan(from: block.firstSeq, below: block.endSeq, range, words: words, body)
    }
  }

  /// Passes every decision of a time range in the pages of a range of sequence numbers to `body`.
  func scan(
    from first: Int64, below end: Int64, _ range: TimeRange, words: WordReader,
    _ body: (borrowing PageReader) throws -> Void
  ) throws {
    let sql = "SELECT body FROM page WHERE seq >= ? AND seq < ? AND atMax >= ? AND atMin <= ? ORDER BY seq"
    let rows = try Row.fetchCursor(
      cachedStatement(sql: sql), arguments: [first, end, range.first, range.end])
    while let row = try rows.next() {
      var reader = try PageReader(try row.bytes(0), words: words)
      while try reader.next() { if range.contains(reader.at) { try body(reader) } }
    }
  }

  /// Passes every decision about a device, an event or a command to `body`, in the order of storing.
  /// - Parameters:
  ///   - key: the property.
  ///   - name: the value of the property.
  ///   - event: the event that the pages must mention, too; nil for any. It spares reading the other pages of a device with many
  ///     decisions, and `body` compares the event.
  ///   - range: the time range.
  ///   - words: looks up the words of pages.
  ///   - body: takes a reader whose line is such a decision of the range; returns false to end the scan.
  func scan(
    _ key: KeyHash.Key, _ name: Identifier, inPagesWith event: Identifier? = nil, in range: TimeRange = .all,
    words: WordReader, _ body: (borrowing PageReader) throws -> Bool
  ) throws {
    let hash = KeyHash(key, name).short
    let other = event.map { KeyHash(.event, $0).short } ?? hash
    let wanted = Array(name.utf8)
    for block in try blocks(in: range) {
      let pages = try Int64.fetchAll(
        cachedStatement(
          sql: """
            SELECT page FROM place WHERE block = ?1 AND hash = ?2
            INTERSECT SELECT page FROM place WHERE block = ?1 AND hash = ?3 ORDER BY page
            """),
        arguments: [block.n, hash, other])
      for page in pages {
        guard var reader = try self.page(page, words: words) else { continue }
        while try reader.next() {
          // Another text may have the same hash.
          let isWanted =
            switch key {
            case .device: reader.device == wanted
            case .event: reader.event == wanted
            case .command: reader.command == name
            case .id: reader.oddId == wanted
            }
          guard isWanted, range.contains(reader.at) else { continue }
          guard try body(reader) else { return }
        }
      }
    }
  }
}

extension Database {
  /// Returns whether any decision or command is about a device.
  func isKnown(device: Identifier, words: WordReader) throws -> Bool {
    var isKnown = false
    try scan(.device, device, words: words) { _ in
      isKnown = true
      return false
    }
    return try isKnown || !commands(toDevice: device, in: .all, words: words).isEmpty
  }

  /// Returns whether any decision is about an event.
  func isKnown(event: Identifier, words: WordReader) throws -> Bool {
    var isKnown = false
    try scan(.event, event, words: words) { _ in
      isKnown = true
      return false
    }
    return isKnown
  }
}

/// The place of a decision in an answer: by time, at the same time in the order of the log, and then in the order of storing.
struct AnswerPlace: Comparable {
  let at: Int64
  let id: RecordId
  let count: Int

  /// - Parameter count: the number of decisions that were found before.
  init(_ reader: borrowing PageReader, count: Int) {
    at = reader.at
    id = reader.id
    self.count = count
  }

  static func < (a: AnswerPlace, b: AnswerPlace) -> Bool {
    (a.at, a.id.partition, a.id.offset, a.id.ordinal, a.count) < (
      b.at, b.id.partition, b.id.offset, b.id.ordinal, b.count
    )
  }
}

/// Keeps the latest decisions that a scan finds, at most a given number.
struct LatestDecisions {
  /// The number of decisions to keep.
  private let limit: Int
  private var found: [(place: AnswerPlace, decision: Decision)] = []
  /// The number of decisions that were found.
  private(set) var count = 0
  /// No decision before this one is among the latest.
  private var floor: AnswerPlace?

  /// - Parameter limit: The number of decisions to keep; nil keeps all.
  init(limit: Int? = nil) { self.limit = max(0, limit ?? .max) }

  /// Adds the decision of a reader's line.
  mutating func add(_ reader: borrowing PageReader) throws {
    let place = AnswerPlace(reader, count: count)
    count += 1
    if limit == 0 { return }
    if let floor, place < floor { return }
    found.append((place, try reader.decision()))
    if found.count >= 64, found.count / 2 >= limit { trim() }
  }

  private mutating func trim() {
    found.sort { $0.place < $1.place }
    found.removeFirst(max(0, found.count - limit))
    floor = found.first?.place
  }

  /// Returns the decisions, oldest first.
  mutating func sorted() -> [Decision] {
    trim()
    return found.map(\.decision)
  }
}
