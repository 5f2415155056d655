import KafkaClient

/// One partition of one topic: records at rising offsets, with holes where compaction removed some.
final class SimulatedLog {
  struct Record: Equatable {
    /// The visibility of a record. A marker ends a transaction; it takes an offset and readers never get it.
    enum Standing: UInt8 { case open, committed, aborted, marker }

    var offset: Int64
    var timestampMilliseconds: Int64
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [KafkaHeader]
    var producer: Int64
    var standing: Standing
    /// The time when compaction saw this tombstone first, in µs.
    var tombstoneSince: Int64?
  }

  private(set) var records: [Record] = []
  private(set) var low: Int64 = 0
  private(set) var end: Int64 = 0
  /// The producers with an open transaction here, each with the first offset of the transaction.
  private var open: [(producer: Int64, first: Int64)] = []

  /// The last stable offset: records before it no longer change.
  var stableEnd: Int64 { open.map(\.first).min() ?? end }

  func append(_ record: Record) -> Int64 {
    var record = record
    record.offset = end
    if record.standing == .open, !open.contains(where: { $0.producer == record.producer }) {
      open.append((record.producer, end))
    }
    records.append(record)
    end += 1
    return record.offset
  }

  /// Ends a producer's transaction and writes its marker.
  func end(producer: Int64, _ standing: Record.Standing, timestampMilliseconds: Int64) {
    guard let first = open.first(where: { $0.producer == producer })?.first else { return }
    for index in index(of: first)..<records.count
    where records[index].producer == producer && records[index].standing == .open {
      records[index].standing = standing
    }
    open.removeAll { $0.producer == producer }
    _ = append(
      Record(
        offset: end, timestampMilliseconds: timestampMilliseconds, key: nil, value: nil, headers: [],
        producer: producer, standing: .marker))
  }

  /// Returns the index of the first record at or behind an offset.
  func index(of offset: Int64) -> Int {
    var (from, to) = (0, records.count)
    while from < to {
      let middle = (from + to) / 2
      if records[middle].offset < offset { from = middle + 1 } else { to = middle }
    }
    return from
  }

  /// Removes a record, for tests of the checks.
  func remove(at index: Int) { records.remove(at: index) }

  /// Keeps the newest committed record of each key below the last stable offset. The newest record of all always stays.
  ///
  /// - Returns: The number of records that were removed.
  func compact(now: Int64, tombstonesKept: Int64) -> Int {
    let limit = min(stableEnd, end - 1)
    var newest: [[UInt8]: Int64] = [:]
    for record in records where record.offset < limit && record.standing == .committed {
      if let key = record.key { newest[key] = record.offset }
    }
    let before = records.count
    records = records.compactMap { record in
      guard record.offset < limit else { return record }
      switch record.standing {
      case .open: return record
      case .aborted, .marker: return nil
      case .committed:
        guard let key = record.key, newest[key] == record.offset else { return nil }
        guard record.value == nil else { return record }
        var record = record
        let since = record.tombstoneSince ?? now
        record.tombstoneSince = since
        return now - since > tombstonesKept ? nil : record
      }
    }
    return before - records.count
  }
}
