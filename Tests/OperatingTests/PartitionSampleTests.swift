import Domain
import Testing

@testable import Installation
@testable import Operating

/// The cost of a record beside its key and value.
private let recordBytes = 64

/// A partition with records at some of its offsets.
private struct SamplePartition {
  struct Record {
    var offset: Int64
    var bytes: Int
    var isSettled: Bool
  }

  var records: [Record] = []
  var high: Int64

  /// Reads the windows of a sample as a consumer does.
  ///
  /// - Returns: The sample, and the number of records that were read.
  func sample() -> (sample: PartitionSample, read: Int) {
    var sample = PartitionSample(low: 0, high: high, recordBytes: recordBytes)
    var read = 0
    while let start = sample.start {
      var place = records.partitioningIndex { $0.offset >= start }
      while true {
        guard place < records.count else {
          sample.pass(to: high)
          break
        }
        let record = records[place]
        read += 1
        place += 1
        if sample.take(record.offset, bytes: record.bytes, isSettled: record.isSettled) { break }
      }
    }
    return (sample, read)
  }

  var bytes: Int64 { records.reduce(0) { $0 + Int64($1.bytes + recordBytes) } }
  var settledBytes: Int64 { records.filter(\.isSettled).reduce(0) { $0 + Int64($1.bytes + recordBytes) } }
}

extension [SamplePartition.Record] {
  fileprivate func partitioningIndex(_ isBehind: (Element) -> Bool) -> Int {
    var (from, to) = (0, count)
    while from < to {
      let middle = (from + to) / 2
      if isBehind(self[middle]) { to = middle } else { from = middle + 1 }
    }
    return from
  }
}

@Suite("the sample of a partition") struct PartitionSampleTests {
  @Test(
    "a partition with few offsets is read whole, gaps or not", arguments: [0, 1, 2, 63, 64, 65, 127, 128] as [Int64])
  func small(high: Int64) {
    for step in [1, 3, 200] as [Int64] {
      var partition = SamplePartition(high: high)
      for offset in stride(from: 0, to: high, by: Int64.Stride(step)) {
        partition.records.append(.init(offset: offset, bytes: Int(offset), isSettled: offset < 20))
      }
      let (sample, _) = partition.sample()
      #expect(sample.records == Int64(partition.records.count), "every \(step)th")
      #expect(sample.bytes == partition.bytes, "every \(step)th")
      #expect(sample.settledBytes == partition.settledBytes, "every \(step)th")
    }
  }

  @Test(
    "records that lie evenly are estimated well, and few of them are read",
    arguments: [1000, 100_000, 50_000_000] as [Int64])
  func even(high: Int64) {
    var partition = SamplePartition(high: high)
    let step = max(1, high / 100_000)
    for offset in stride(from: 0, to: high, by: Int64.Stride(step)) {
      partition.records.append(.init(offset: offset, bytes: 1000, isSettled: offset < high / 2))
    }
    let (sample, read) = partition.sample()
    let ratio = Double(sample.bytes) / Double(partition.bytes)
    #expect((0.75...1.25).contains(ratio), "\(ratio)")
    let settled = Double(sample.settledBytes) / Double(partition.bytes)
    #expect((0.3...0.7).contains(settled), "\(settled)")
    #expect(read <= 64 * 45)
  }

  @Test("a clean partition with very many offsets, whose records are nearly all recent, is estimated within a third")
  func clean() {
    for share in [0.9, 0.5, 0.1, 0.01, 0.0001] {
      var partition = SamplePartition(high: 2_000_000_000)
      // Remains of the past, and then commits of four offsets each, two of them markers or cleaned away.
      for offset in stride(from: 0 as Int64, to: 1_000_000_000, by: 99_999_999) {
        partition.records.append(.init(offset: offset, bytes: 60_000, isSettled: true))
      }
      let begin = partition.high - Int64(share * 2_000_000)
      for offset in stride(from: begin, to: partition.high, by: 4) {
        partition.records.append(.init(offset: offset, bytes: 60_000, isSettled: true))
        partition.records.append(.init(offset: offset + 1, bytes: 100, isSettled: false))
      }
      let (sample, read) = partition.sample()
      let ratio = Double(sample.bytes) / Double(partition.bytes)
      #expect((0.67...1.34).contains(ratio), "\(share): \(ratio)")
      #expect(read <= 64 * 45)
    }
  }
}

@Suite("the compaction of a topic") struct CompactedTopicTests {
  private static let megabyte: Int64 = 1_000_000

  private static func topic(settled: Int64, living: Int64?, of count: Int = 1) -> CompactedTopic {
    let part = CompactedTopic.Part(
      partition: 3, partitionCount: count, records: 10, bytes: settled + 500 * megabyte, settledBytes: settled,
      livingBytes: living)
    return CompactedTopic(topic: "rouse.state", segmentBytes: 64 * megabyte, parts: [part])
  }

  @Test("is reported beyond three times what can be alive and four segments, and only then")
  func threshold() {
    let living = 100 * Self.megabyte
    #expect(Self.topic(settled: 556 * Self.megabyte, living: living).problems.isEmpty)
    let problem = TopicProblem(
      topic: "rouse.state", what: "compaction of partition 3", expected: "at most 556 MB older than an hour",
      found: "about 557 MB")
    #expect(Self.topic(settled: 556 * Self.megabyte + 1, living: living).problems == [problem])
    #expect(problem.sort == .compaction)
  }

  @Test("of a small topic, just after a burst, or with nothing that states its size is not reported")
  func quiet() {
    // Nothing can be alive, and four segments are less than a restore reads in two seconds.
    #expect(Self.topic(settled: 250 * Self.megabyte, living: 0).problems.isEmpty)
    // 500 MB have just been written.
    #expect(Self.topic(settled: 0, living: 0).problems.isEmpty)
    #expect(Self.topic(settled: .max / 4, living: nil).problems.isEmpty)
    #expect(Self.topic(settled: 257 * Self.megabyte, living: 0).problems.count == 1)
    #expect(Self.topic(settled: 257 * Self.megabyte, living: 0, of: 2).problems.isEmpty)
  }
}
