import Installation
import KafkaClient

/// A record that will be written back to its topic.
private struct ReplayRecord {
  var letter: DeadLetterRecord
  var topic: String
  /// The original partition. Nil if the topic has too few partitions for it now; then the partitioner chooses one by
  /// key.
  var partition: Int32?
  var value: [UInt8]?
}

/// The reason why a letter is not replayed.
private struct ReplayRefusal: Error {
  var why: String
}

extension DeadLetterQueue {
  /// The size of the largest record value that a replay writes back to its topic. Intake reads no larger ones.
  /// - Beyond: the letter is not replayed, and the command says so.
  private static let valueBytesMax = 4_000_000
  /// The most letters of one transaction, so that the transaction ends well within its time-out.
  private static let transactionLettersMax = 1000
  /// The most bytes of values in one transaction; a single larger value is written alone.
  private static let transactionBytesMax = 32 << 20

  /// Writes the original key, value and headers of letters to the partitions that they came from, each letter once. The
  /// receipt of a letter is written in the same transaction, and a letter with a receipt is left out. A record
  /// that still cannot be accepted becomes a letter again.
  ///
  /// All letters are examined before the first is written. A registration is refused if the device has sent another one
  /// since: in a compacted topic the old registration would replace the newer one.
  ///
  /// - Parameters:
  ///   - letters: The letters to replay.
  ///   - skipsRefused: Whether to replay the others if some are refused. False then writes nothing.
  ///   - done: Gets the letters of each transaction that was committed. If an error is thrown later, those stay replayed
  ///     and the others are not.
  /// - Returns: The outcome for each letter.
  /// - Throws: `KafkaError`, or the error of `done`.
  public func replay(
    _ letters: [DeadLetterRecord], skipsRefused: Bool = false, _ done: ([DeadLetterRecord]) throws -> Void = { _ in }
  ) throws -> ReplayReport {
    // Before anything is read: from here on every other replay is fenced and cannot commit unseen receipts.
    let producer = try producer()
    var report = ReplayReport()
    var records: [ReplayRecord] = []
    let receipts = try receipts(for: letters)
    let devices = try newestRegistrations(letters)
    let topics = try partitionCounts(letters)
    var seen: Set<KafkaPosition> = []
    for letter in letters where seen.insert(letter.place).inserted {
      if receipts[letter.place] != nil {
        report.replayedBefore.append(letter)
        continue
      }
      switch try record(of: letter, devices, topics) {
      case .success(let record): records.append(record)
      case .failure(let refusal): report.refused.append(ReplayReport.Refusal(letter: letter, why: refusal.why))
      }
    }
    guard report.refused.isEmpty || skipsRefused else { return report }
    var rest = records[...]
    while !rest.isEmpty {
      let next = Self.transaction(of: rest)
      rest = rest.dropFirst(next.count)
      try write(next, producer)
      report.replayed += next.map(\.letter)
      try done(next.map(\.letter))
    }
    return report
  }

  private func producer() throws(KafkaError) -> KafkaProducer {
    let producer = try KafkaProducer(
      settings.client([
        "enable.idempotence": "true", "transactional.id": settings.replayID,
        "partitioner": "murmur2_random", "message.max.bytes": "4194304",
      ]))
    try retrying { () throws(KafkaError) in try producer.initTransactions(timeout: .seconds(30)) }
    return producer
  }

  // MARK: Examining

  private func record(
    of letter: DeadLetterRecord, _ devices: [KafkaTopicPartition: [[UInt8]: KafkaMessage]], _ topics: [String: Int]
  ) throws(KafkaError) -> Result<ReplayRecord, ReplayRefusal> {
    func refused(_ why: String) -> Result<ReplayRecord, ReplayRefusal> { .failure(ReplayRefusal(why: why)) }
    guard let origin = letter.origin else {
      return refused("its headers do not name its origin; write it to its topic by hand")
    }
    let topic = origin.partition.topic
    guard ![settings.topics.log, settings.topics.state].contains(topic) else {
      return refused(
        "it is an internal record of \(origin); its source records are in the topics that intake reads")
    }
    guard let partitions = topics[topic], partitions > 0 else {
      return refused("the topic \(topic) that it came from no longer exists; write it to another by hand")
    }
    if letter.cutKeyBytes != nil || letter.leftOutHeaders != nil {
      return refused("its key or its headers did not fit into a letter; publish the record again in a smaller form")
    }
    var value = letter.message.value
    if topic == settings.topics.devices, let key = letter.message.key {
      let newest = devices[origin.partition]?[key]
      if let why = Self.superseded(letter, origin, newest) { return refused(why) }
      if letter.leftOutBytes != nil { value = newest?.value }
    } else if letter.leftOutBytes != nil {
      // The value that was left out is still in its topic, unless retention has removed it.
      do throws(KafkaError) {
        value = try record(at: origin).value
      } catch {
        guard error.code == .noOffset else { throw error }
        return refused("its value was too large for a letter, and retention has removed it from \(origin)")
      }
    }
    if let count = value?.count, count > Self.valueBytesMax {
      return refused("its value has \(count) bytes, more than intake reads; publish it again in a smaller form")
    }
    return .success(
      ReplayRecord(
        letter: letter, topic: topic,
        partition: origin.partition.partition < partitions ? origin.partition.partition : nil, value: value))
  }

  /// Returns the reason why the registration in a letter must not be replayed.
  ///
  /// - Parameter newest: The newest record of the device in the partition that the letter came from.
  /// - Returns: The reason; nil if the letter holds the device's newest registration.
  private static func superseded(_ letter: DeadLetterRecord, _ origin: KafkaPosition, _ newest: KafkaMessage?)
    -> String?
  {
    guard let newest, newest.offset >= origin.offset else {
      return
        "no record of its device is left from \(origin) on: the device was forgotten, or retention removed the record"
    }
    // Giving back the same value changes nothing.
    if newest.offset == origin.offset || letter.leftOutBytes == nil && newest.value == letter.message.value {
      return nil
    }
    return "its device has sent \(newest.topicPartition)@\(newest.offset) since, which it would replace"
  }

  /// Returns the newest record of each device that has a letter, by partition and key. Reads from the origin of the first
  /// letter on.
  private func newestRegistrations(
    _ letters: [DeadLetterRecord]
  ) throws(KafkaError) -> [KafkaTopicPartition: [[UInt8]: KafkaMessage]] {
    var starts: [KafkaTopicPartition: Int64] = [:]
    var keys: Set<[UInt8]> = []
    for letter in letters {
      guard let origin = letter.origin, origin.partition.topic == settings.topics.devices else { continue }
      guard let key = letter.message.key else { continue }
      keys.insert(key)
      starts[origin.partition] = min(starts[origin.partition] ?? .max, origin.offset)
    }
    var newest: [KafkaTopicPartition: [[UInt8]: KafkaMessage]] = [:]
    try TopicReader(settings: settings).read(from: starts) { message in
      guard let key = message.key, keys.contains(key) else { return }
      newest[message.topicPartition, default: [:]][key] = message
    }
    return newest
  }

  private func partitionCounts(_ letters: [DeadLetterRecord]) throws(KafkaError) -> [String: Int] {
    let names = Set(letters.compactMap { $0.origin?.partition.topic }).sorted()
    guard !names.isEmpty else { return [:] }
    let found = try KafkaAdmin(settings.client([:])).describeTopics(names, timeout: .seconds(30))
    return Dictionary(found.map { ($0.name, $0.partitions.count) }) { $1 }
  }

  // MARK: Writing

  /// Returns the first records that fit into one transaction, at least one.
  private static func transaction(of records: ArraySlice<ReplayRecord>) -> ArraySlice<ReplayRecord> {
    var bytes = 0
    let fitting = records.prefix(transactionLettersMax).prefix { record in
      bytes += record.value?.count ?? 0
      return bytes <= transactionBytesMax
    }
    return fitting.isEmpty ? records.prefix(1) : fitting
  }

  private func write(_ records: ArraySlice<ReplayRecord>, _ producer: KafkaProducer) throws(KafkaError) {
    try producer.beginTransaction()
    do throws(KafkaError) {
      for record in records {
        let letter = record.letter
        try producer.send(
          topic: record.topic, partition: record.partition, key: letter.message.key, value: record.value,
          headers: letter.replayHeaders)
        try producer.send(
          topic: letter.message.topic, partition: letter.message.partition, key: letter.message.key, value: nil,
          headers: letter.receiptHeaders)
      }
    } catch {
      throw abort(producer, because: error)
    }
    do throws(KafkaError) {
      try retrying { () throws(KafkaError) in try producer.commitTransaction(timeout: .seconds(30)) }
    } catch {
      if error.isAbortable { throw abort(producer, because: error) }
      throw Self.with(
        "it is unknown whether the last \(records.count) letters were replayed; a repeated replay looks at their receipts",
        error)
    }
  }

  /// Aborts a transaction.
  ///
  /// - Returns: The cause, with a remark if the abort failed.
  private func abort(_ producer: KafkaProducer, because cause: KafkaError) -> KafkaError {
    if cause.isFatal { return cause }
    do throws(KafkaError) {
      try producer.abortTransaction(timeout: .seconds(10))
      return cause
    } catch {
      return Self.with(
        "the transaction could not be aborted either; the next replay aborts it (\(error.message))", cause)
    }
  }

  private static func with(_ remark: String, _ error: KafkaError) -> KafkaError {
    KafkaError(
      code: error.code, message: "\(error.message); \(remark)", operation: error.operation,
      isRetriable: error.isRetriable)
  }
}
