import KafkaClient
import Testing

@testable import Pipeline

@Suite("Ends of partitions that were reached") struct ReachedEndsTests {
  private static let partition = KafkaTopicPartition(topic: "t", partition: 3)

  @Test(
    "an end that was reached counts until records are read behind it, and never beyond the end of the partition",
    arguments: [
      // Reached, the offset behind the last record, the end, and the offset from which on it is left to read.
      (reached: Int64?.none, next: Int64(5), end: Int64(7), left: Int64(5)),
      // One offset was the end mark of a transaction.
      (reached: 6, next: 5, end: 6, left: 6),
      // More was written since.
      (reached: 6, next: 5, end: 9, left: 6),
      // Records were read behind it.
      (reached: 6, next: 8, end: 9, left: 8),
      // The topic was made anew, and is shorter.
      (reached: 60, next: 5, end: 9, left: 5),
    ])
  func next(reached: Int64?, next: Int64, end: Int64, left: Int64) {
    var ends = ReachedEnds()
    if let reached { ends.take([.partitionEnd(KafkaPosition(Self.partition, offset: reached))]) }
    #expect(ends.next(of: Self.partition, next, end: end) == left)
    ends.forget(Self.partition)
    #expect(ends.next(of: Self.partition, next, end: end) == next)
  }
}
