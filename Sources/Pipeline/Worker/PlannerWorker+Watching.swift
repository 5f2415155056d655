import Domain
import Installation
import KafkaClient

/// The work of a planner thread as a static member of its group; see `GroupWatch`.
extension PlannerWorker {
  /// Makes the watch of a static member; nil for a dynamic one.
  ///
  /// - Parameter partitionCount: The number of partitions of the log.
  func makeWatch(partitionCount: Int32) -> GroupWatch? {
    guard settings.isStaticMember else { return nil }
    return GroupWatch(
      own: Identifier(transactionalID), prefix: Identifier(settings.cluster.plannerIDPrefix),
      topic: settings.topics.log,
      partitions: partitionCount, at: clock.elapsed)
  }

  /// Asks the broker for the members of the group if that is due, and performs the remedies that `GroupWatch` returns.
  ///
  /// - Throws: `PipelineError` if the thread cannot join again.
  func lookAtGroup(_ clients: PlannerClients) throws(PipelineError) {
    guard watch?.isDue(at: clock.elapsed) == true else { return }
    let group: KafkaGroup
    do throws(KafkaError) {
      group = try clients.consumer.describeGroup(timeout: GroupWatch.timeout)
    } catch {
      let isFinal = [.unsupportedFeature, .unsupportedVersion].contains(error.code)
      watch?.failed(forGood: isFinal, at: clock.elapsed)
      if isFinal { report.notWatched(error) } else { report.ignored(error) }
      return
    }
    for remedy in watch?.take(group, at: clock.elapsed) ?? [] {
      switch remedy {
      case .fence(let id): fence(id)
      case .rejoin(let partitions):
        report.ownerless(partitions)
        try PipelineError.ofKafka { () throws(KafkaError) in
          try clients.consumer.rejoin([settings.topics.log], timeout: .seconds(5))
        }
        try take(.handled, clients)
      }
    }
  }

  /// Ends the transaction that a member which is no longer in the group may have left open. A member that is still
  /// alive loses its producer by this, and makes a new one. A failure is only logged: the broker ends the transaction
  /// by itself, later.
  private func fence(_ id: Identifier) {
    do throws(KafkaError) {
      let producer = try cluster.producer(producerConfiguration(id: "\(id)"), queueFullTimeout: .zero)
      try producer.initTransactions(timeout: .seconds(5))
      report.fenced(id)
    } catch {
      report.fencingFailed(id, error)
    }
  }

  /// Finds out why another producer has taken over the transactional id of this thread. If another process has the same
  /// `instance`, the group tells this static member that its place was taken. Otherwise the broker ended the
  /// transaction because this process was too slow, and a new worker can continue.
  ///
  /// - Parameter error: The error of the producer.
  /// - Returns: The error that says that another process has the same `instance`; nil if the group does not say so
  ///   within 3 s.
  func replacement(behind error: PipelineError, _ clients: PlannerClients) -> PipelineError? {
    guard case .kafka(let cause) = error, cause.isFatal, settings.isStaticMember,
      [.fenced, .producerFenced, .invalidProducerEpoch].contains(cause.code)
    else { return nil }
    let end = clock.elapsed + Self.heartbeatPatience
    do throws(KafkaError) {
      while clock.elapsed < end, !stop.isAsked {
        _ = try clients.consumer.poll(maxMessages: 100, timeout: .milliseconds(50))
      }
    } catch {
      if error.code == .fencedInstance { return .kafka(error) }
      report.ignored(error)
    }
    return nil
  }

  /// The time within which an answer to a heartbeat is expected, with the default interval.
  private static let heartbeatPatience = Duration.seconds(3)
}
