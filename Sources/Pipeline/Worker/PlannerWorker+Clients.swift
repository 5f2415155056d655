import Installation
public import KafkaClient

extension PlannerWorker {
  /// The properties of the transactional producer.
  ///
  /// - Parameter id: The transactional id; nil for this worker's own id.
  func producerConfiguration(id: String? = nil) -> KafkaConfiguration {
    var configuration = settings.client(
      [
        "enable.idempotence": "true", "partitioner": "murmur2_random", "transactional.id": id ?? transactionalID,
        "transaction.timeout.ms": "\(settings.planner.transactionTimeout.milliseconds)",
        // The commit reports success; a report of every record would go through this thread.
        "delivery.report.only.error": "true",
        "message.max.bytes": "\(TopicPlan.stateRecordBytesMax)",
        "statistics.interval.ms": settings.statisticsInterval,
      ],
      defaults: [
        // Each commit sends what is queued, and a full batch goes at once. With a short linger, librdkafka 2.0.2 busy-waits (it polls with
        // no time-out) while a partition has a batch that is due and another one that the broker has not answered yet: on a
        // busy machine that was three quarters of its thread's time. A batch of the default `batch.size` of 1,000,000 bytes is within what
        // a topic takes by default.
        "linger.ms": "1000", "batch.num.messages": "100000", "queue.buffering.max.messages": "500000",
        // Decisions stay in their topic for days. Level 1 halves what lz4 leaves of them, for 0.1 to 0.2 µs more a decision;
        // levels 2 and 3 gain nothing, and level 6 gains a sixth for five times the time.
        "compression.type": "zstd", "compression.level": "1",
      ])
    let isChosen = settings.kafka["compression.type"] != nil || settings.kafka["compression.codec"] != nil
    if isChosen { return configuration }
    // Commands are read at once, and state is soon replaced: for them processor time counts more than bytes.
    for topic in [settings.topics.commands, settings.topics.state] {
      configuration.topicProperties[topic] = ["compression.type": "lz4"]
    }
    return configuration
  }

  /// The properties of the consumer that reads the log in the planners' group.
  func consumerConfiguration() -> KafkaConfiguration {
    var configuration = settings.member(
      [
        "group.id": settings.cluster.plannerGroup, "enable.auto.commit": "false", "enable.auto.offset.store": "false",
        "auto.offset.reset": "error", "isolation.level": "read_committed", "enable.partition.eof": "false",
        "statistics.interval.ms": settings.statisticsInterval,
      ],
      defaults: [
        "partition.assignment.strategy": "cooperative-sticky", "fetch.wait.max.ms": "50",
        // A consumer idles whenever its queue passes this many messages; the byte bound caps memory instead.
        "queued.min.messages": "1000000", "queued.max.messages.kbytes": "65536",
      ])
    // A member that comes back within the session time-out gets its partitions again, without a rebalance. It may have died while
    // it handed a partition over; `GroupWatch` sees that.
    if settings.isStaticMember { configuration["group.instance.id"] = transactionalID }
    return configuration
  }
}

/// The connections of a working planner thread. All of them belong to that thread.
struct PlannerClients {
  /// Reads the log as a member of the planners' group.
  let consumer: any ClusterConsumer
  /// Writes what was decided.
  let transaction: PlannerTransaction
  /// Reads the state of partitions that are being restored.
  let reader: StateReader
  /// The number of partitions of the log.
  let partitionCount: Int32
}

extension PlannerWorker: KafkaRebalanceListener {
  /// Takes over partitions. They are paused before any record of them is planned; reading continues at the restored
  /// position.
  ///
  /// - Parameter partitions: The new partitions.
  /// - Returns: The beginning of each partition as its start. Before a record is planned, the restore moves the
  ///   consumer to the restored position.
  public func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset] {
    follow(.assigned(partitions.map(\.partition).sorted()))
    watch?.rebalanced(at: clock.elapsed)
    published.hasJoined = true
    report.rebalanced(.assigned, partitions)
    return Dictionary(uniqueKeysWithValues: partitions.map { ($0, .beginning) })
  }

  /// Commits, then releases the partitions that are about to go to other members.
  ///
  /// - Parameter partitions: The partitions that the group takes away.
  public func revoked(_ partitions: [KafkaTopicPartition]) {
    follow(.revoked(partitions.map(\.partition)))
    report.rebalanced(.revoked, partitions)
  }

  /// Aborts everything planned since the last commit, and releases partitions that may belong to other members already.
  ///
  /// - Parameter partitions: The partitions that are gone.
  public func lost(_ partitions: [KafkaTopicPartition]) {
    report.rebalanced(.lost, partitions)
    follow(.lost(partitions.map(\.partition)))
  }
}
