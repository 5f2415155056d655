public import Domain
import Installation
public import KafkaClient
import Logging

extension AuditFeed {
  /// Reads records, and stores what they hold. What no release writes is counted, logged and left out: a line of a block that is no
  /// decision, a value that is no command, and a block whose header contradicts its lines, which are stored all the same.
  ///
  /// - Parameter messages: The records, in the order of their partitions.
  func store(_ messages: [KafkaMessage]) {
    var records: [AuditRecord] = []
    records.reserveCapacity(messages.count)
    var stored: [KafkaTopicPartition: Int64] = [:]
    for message in messages {
      let partition = message.topicPartition
      if !overtaken.isEmpty { lookForLoss(before: message, from: stored[partition] ?? next[partition]) }
      stored[partition] = message.offset + 1
      if message.topic == settings.topics.decisions {
        read(block: message, into: &records)
      } else {
        read(command: message, into: &records)
      }
    }
    // After a start nothing was stored yet, and an empty store has no position. The oldest record that waits says then how far behind it is.
    for message in messages where storedTo[message.topicPartition] == nil {
      storedTo[message.topicPartition] = message.timestampMilliseconds
      next[message.topicPartition] = next[message.topicPartition] ?? message.offset
    }
    let positions = stored.map { position($0, next: $1) }
    let began = clock.wallMicroseconds
    if keep(records[...], positions) {
      next.merge(stored) { $1 }
      tellUsable()
      counters.traces?.stored(records, from: began, to: clock.wallMicroseconds)
      for message in messages { storedTo[message.topicPartition] = message.timestampMilliseconds }
    }
  }

  private func read(command message: KafkaMessage, into records: inout [AuditRecord]) {
    do throws(DomainError) {
      let command = try Command(json: message.value ?? [], reader: reader)
      records.append(AuditRecord(content: .command(command), partition: message.partition, offset: message.offset))
    } catch {
      counters.add(.auditUnreadable)
      tellUnreadable(message, lines: nil, "\(error)")
    }
  }

  private func read(block message: KafkaMessage, into records: inout [AuditRecord]) {
    let block = DecisionBlock(message)
    var unreadable = 0
    var first: (line: Int, error: DomainError)?
    let lines = blocks.read(block) { number, line in
      switch line {
      case .success(let line):
        records.append(
          AuditRecord(
            content: .decision(line), partition: message.partition, offset: message.offset, line: number))
      case .failure(let error):
        unreadable += 1
        if first == nil { first = (number, error) }
      }
    }
    let contradiction = block.contradiction(lines: lines)
    guard first != nil || contradiction != nil else { return }
    counters.add(.auditUnreadable, max(1, unreadable))
    let mistakes = [first.map { "line \($0.line): \($0.error)" }, contradiction].compactMap(\.self)
    tellUnreadable(message, lines: (unreadable, lines), mistakes.joined(separator: "; "))
  }

  /// Logs that a record is not as a release writes it.
  ///
  /// - Parameters:
  ///   - message: The record.
  ///   - lines: The number of lines of a block that are no decisions, and of all its lines; nil for another record.
  ///   - error: The first mistake, in words.
  private func tellUnreadable(_ message: KafkaMessage, lines: (unreadable: Int, all: Int)?, _ error: String) {
    repeated.report(
      .auditRecordUnreadable, thing: "\(message.topicPartition)",
      metadata: {
        var metadata: Logger.Metadata = [
          "place": "\(message.topicPartition)@\(message.offset)", "bytes": "\(message.value?.count ?? 0)",
          "error": "\(error)",
        ]
        if let lines { metadata["unreadable"] = "\(lines.unreadable) of \(lines.all) lines" }
        return metadata
      }())
  }
}

extension AuditFeed {
  /// The shortest time between two publications of the status.
  private static let statusInterval = Duration.seconds(1)

  /// Publishes the positions of the audit feed, at most once a second, and notes the turn.
  func publishStatus() {
    guard let consumer, clock.elapsed >= nextStatus else { return }
    nextStatus = clock.elapsed + Self.statusInterval
    counters.status.turned(PipelineStatus.StageThread(role: .audit, number: 0), at: clock.wallMicroseconds)
    var partitions: [PipelineStatus.AuditPartitionStatus] = []
    for (partition, offset) in next.sorted(by: { $0.key < $1.key }) {
      let topic = partition.topic == settings.topics.decisions ? "decisions" : "commands"
      var status = PipelineStatus.AuditPartitionStatus(topic: topic, number: partition.partition, next: offset)
      status.storedTo = storedTo[partition].map { $0 * 1000 }
      do throws(KafkaError) {
        status.end = try consumer.cachedWatermarks(of: partition)?.high
        if let end = status.end { status.next = ends.next(of: partition, offset, end: end) }
      } catch { repeated.log(error) }
      partitions.append(status)
    }
    counters.status.set(partitions)
  }
}

extension DecisionBlock {
  /// Takes over a record of `rouse.decisions`.
  ///
  /// - Parameter message: The record, which may hold anything.
  public init(_ message: KafkaMessage) {
    self.init(message.value, count: message.headers.last { $0.name == Self.countHeader }?.value)
  }
}
