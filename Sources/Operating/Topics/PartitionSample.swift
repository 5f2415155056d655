/// A sample of the records of one partition, from which the number and the size of all its records are estimated.
///
/// The offsets of a compacted partition say little: the cleaner leaves gaps, and never numbers the rest anew. Reading everything
/// takes as long as a restore. So a few windows of offsets are read, and each window stands for the stretch around it:
///
///     low                                                  high
///      │            ▓            │       ▓       │   ▓   │▓│▓│
///
/// The stretches grow by half with their distance from the end, because what the cleaner has left of the oldest records is
/// sparse. So a partition with a thousand million offsets takes some forty windows, and the recent records, which are nearly
/// all that a clean partition holds, are known well. A small partition is read whole.
///
/// A window covers `windowOffsets`. It is longer where fewer than `windowRecords` lie in them, because few records say little, but
/// it ends with its stretch. Reading begins with the oldest window. The next record that is there ends every stretch before it,
/// so gaps cost nothing.
struct PartitionSample {
  private struct Stretch {
    /// The offsets that the window stands for.
    var range: Range<Int64>
    /// The first offset of the window.
    var start: Int64
    /// The number of offsets from `start` on of which it is known what they hold.
    var covered: Int64 = 0
    var records: Int64 = 0
    var bytes: Int64 = 0
    var settledBytes: Int64 = 0

    var isRead: Bool {
      start + covered >= range.upperBound || covered >= windowOffsets && records >= windowRecords
    }
  }

  /// The number of offsets in a window.
  private static let windowOffsets: Int64 = 64
  /// The number of records up to which a window becomes longer.
  private static let windowRecords: Int64 = 8

  /// The stretches, oldest first.
  private var stretches: [Stretch] = []
  /// The approximate cost of a record in addition to its key and value. Bytes.
  private let recordBytes: Int
  /// The index of the first window that has not been read.
  private var next = 0

  /// Lays out the windows of a partition.
  ///
  /// - Parameters:
  ///   - low: The partition's first offset.
  ///   - high: The offset behind its last record.
  ///   - recordBytes: The approximate cost of a record in addition to its key and value. Bytes.
  init(low: Int64, high: Int64, recordBytes: Int) {
    self.recordBytes = recordBytes
    var end = high
    while end > low {
      let count = min(end - low, max(Self.windowOffsets, (high - end) / 2))
      stretches.append(
        Stretch(range: end - count..<end, start: end - count + max(0, count - Self.windowOffsets) / 2))
      end -= count
    }
    stretches.reverse()
  }

  /// The first offset of the next window to read; nil when all have been read.
  var start: Int64? { next < stretches.count ? stretches[next].start : nil }

  /// Takes the next record.
  ///
  /// - Parameters:
  ///   - offset: The offset of the record, `start` or later.
  ///   - bytes: The size of its key and value.
  ///   - isSettled: Whether the record is so old that the cleaner should have passed it.
  /// - Returns: Whether the window has been read. Then read on at `start`.
  mutating func take(_ offset: Int64, bytes: Int, isSettled: Bool) -> Bool {
    let open = next
    pass(to: offset)
    guard next == open, next < stretches.count else { return true }
    let size = Int64(bytes + recordBytes)
    stretches[next].records += 1
    stretches[next].bytes += size
    if isSettled { stretches[next].settledBytes += size }
    pass(to: offset + 1)
    return next > open
  }

  /// Notes that no further record is left before an offset. The end of the partition is such an offset, too.
  mutating func pass(to offset: Int64) {
    while next < stretches.count {
      let end = min(offset, stretches[next].range.upperBound)
      stretches[next].covered = max(stretches[next].covered, end - stretches[next].start)
      guard stretches[next].isRead else { return }
      next += 1
    }
  }

  /// The estimated number of records.
  var records: Int64 { sum(\.records) }
  /// The estimated size of all records, `StateFormat.recordBytes` added for each. Bytes.
  var bytes: Int64 { sum(\.bytes) }
  /// The estimated size of the records that the cleaner should have passed, likewise. Bytes.
  var settledBytes: Int64 { sum(\.settledBytes) }

  private func sum(_ number: KeyPath<Stretch, Int64>) -> Int64 {
    let sum = stretches.reduce(0.0) { sum, stretch in
      sum + Double(stretch[keyPath: number]) * Double(stretch.range.count) / Double(max(1, stretch.covered))
    }
    return Int64(min(sum, 1e18).rounded())
  }
}
