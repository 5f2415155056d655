import KafkaClient

/// The source records that intake has read, until their log records and dead letters are delivered.
///
///     messages: │ delivered or in flight │ waiting │
///               0                      next      count
struct IntakeBatch {
  /// The source records, in the order in which they were read.
  var messages: [KafkaMessage] = []
  /// The index of the first record that was not sent yet. It returns to 0 when the batch is sent again.
  var next = 0
  /// The number of records, from the first on, that were examined: decoded or refused, and compared with earlier
  /// events. It stays when the batch is sent again.
  var decided = 0
  /// The indices of repeated events, which are not appended.
  var dropped: Set<Int> = []
  /// The dead letters of records that could not be accepted, by the index of the record.
  var letters: [Int: DeadLetter] = [:]
  /// The record that was sent alone and is not confirmed yet; nil if there is none.
  var alone: SentAlone?

  /// Whether the batch holds no record.
  var isEmpty: Bool { messages.isEmpty }

  /// Checks what holds between two turns.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    if next > messages.count { violations.append("\(next) of \(messages.count) records were sent") }
    if next > decided { violations.append("\(next) records were sent, and \(decided) decided about") }
    let indices = Array(letters.keys) + Array(dropped) + (alone.map { [$0.index] } ?? [])
    for index in indices.sorted() where index >= decided {
      violations.append("record \(index) was refused, dropped or sent, and \(decided) were decided about")
    }
    return violations
  }
}

/// A record that is sent while no other is in flight.
struct SentAlone {
  /// The index of the record in its batch.
  var index: Int
  /// The log partitions that it is sent to.
  var partitions: Range<Int32>
}
