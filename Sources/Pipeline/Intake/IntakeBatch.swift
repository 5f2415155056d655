import KafkaClient
import Observing

/// The source records of one poll, until their log records and dead letters are delivered.
///
///     messages: │ delivered or in flight │ waiting │
///               0                      next      count
struct IntakeBatch {
  /// Records of one source partition that follow each other in a batch.
  struct Run {
    /// The source partition.
    let partition: KafkaTopicPartition
    /// The generation of the source partition when the records were read. The topic may be made again while the batch
    /// is under way.
    let generation: Int64
    /// The indices of the records in the batch.
    var indices: Range<Int>
    /// Whether the partition was taken away after the records were read. Their offset is then left to the next owner,
    /// which may be further already.
    var isReleased: Bool
  }

  /// The number of the batch: one more than that of the batch before it. Log records carry it as their tag.
  let number: UInt64
  /// The source records, in the order in which they were read.
  let messages: [KafkaMessage]
  /// The runs of the records, in order.
  var runs: [Run]
  /// The bytes of the source records.
  let bytes: Int
  /// The index of the first record that was not sent yet. It returns to 0 when the batch is sent again.
  var next = 0
  /// The number of records, from the first on, that were examined: decoded or refused, and compared with earlier
  /// events. It stays when the batch is sent again.
  var examined = 0
  /// The indices of repeated events, which are not appended.
  var dropped: Set<Int> = []
  /// The dead letters of records that could not be accepted, by the index of the record.
  var letters: [Int: DeadLetter] = [:]
  /// The bytes of the log records that were sent, each partition's copy counted.
  var sentBytes = 0
  /// The spans of the stage `intake` of sampled events, which end when everything is delivered; at most `PipelineTraces.spansMax`.
  var spans: [TracedSpan] = []
  /// The place in `runs` of the record that was decoded last.
  private var lastRun = 0

  /// Makes a batch of which nothing was sent.
  ///
  /// - Parameters:
  ///   - number: The number of the batch.
  ///   - messages: The source records, in the order in which they were read.
  ///   - generation: Returns the present generation of a source partition.
  ///   - isReleased: Whether a source partition was taken away since the records were read.
  init(
    number: UInt64, messages: [KafkaMessage], generation: (KafkaTopicPartition) -> Int64,
    isReleased: (KafkaTopicPartition) -> Bool
  ) {
    self.number = number
    self.messages = messages
    var runs: [Run] = []
    var bytes = 0
    for index in messages.indices {
      bytes += (messages[index].key?.count ?? 0) + (messages[index].value?.count ?? 0)
      if let last = runs.last, last.partition.partition == messages[index].partition,
        last.partition.topic == messages[index].topic
      {
        runs[runs.count - 1].indices = last.indices.lowerBound..<index + 1
      } else {
        let partition = messages[index].topicPartition
        runs.append(
          Run(
            partition: partition, generation: generation(partition), indices: index..<index + 1,
            isReleased: isReleased(partition)))
      }
    }
    self.runs = runs
    self.bytes = bytes
  }

  /// Whether every record was sent, dropped or refused.
  var isSent: Bool { next == messages.count }

  /// Returns the run of a record. Costs least when the records are asked for in order.
  mutating func run(of index: Int) -> Run {
    if !runs[lastRun].indices.contains(index) {
      let following = lastRun + 1
      let isNext = following < runs.count && runs[following].indices.contains(index)
      lastRun = isNext ? following : runs.firstIndex { $0.indices.contains(index) } ?? lastRun
    }
    return runs[lastRun]
  }

  /// Checks what holds between two turns.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    if next > messages.count { violations.append("\(next) of \(messages.count) records were sent") }
    if next > examined { violations.append("\(next) records were sent, and \(examined) examined") }
    for index in (Array(letters.keys) + Array(dropped)).sorted() where index >= examined {
      violations.append("record \(index) was refused or dropped, and \(examined) were examined")
    }
    if runs.map(\.indices.count).reduce(0, +) != messages.count {
      violations.append("the runs of \(messages.count) records are \(runs.map(\.indices))")
    }
    return violations
  }
}

/// A record that is sent while no other is in flight.
struct SentAlone {
  /// The number of its batch.
  var batch: UInt64
  /// The index of the record in its batch.
  var index: Int
  /// The log partitions that it is sent to.
  var partitions: Range<Int32>
}
