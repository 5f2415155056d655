import KafkaClient

/// The source partitions that intake's group has given to this member, and the moments at which it takes them away.
///
/// | the group | intake |
/// | --- | --- |
/// | revokes partitions | waits up to a second for the batches under way, and commits what is delivered |
/// | lets them go, or has taken them away already | never commits an offset of what it read before |
///
/// A broker takes offsets of any partition from any member. If intake committed the offsets of batches that are still
/// under way, it would move a partition back that another member has read further meanwhile. The records of such batches
/// are still delivered. The next owner appends them again, and planners drop the second copy by its origin.
final class IntakeAssignment: KafkaRebalanceListener {
  /// The intake whose batches are concerned; nil after its end.
  weak var intake: Intake?
  /// The partitions of this member.
  private(set) var owned: Set<KafkaTopicPartition> = []
  /// The failure of a delivery while partitions were revoked.
  private var failure: KafkaError?

  /// Adds the partitions, which are read from the committed offsets on.
  func assigned(_ partitions: [KafkaTopicPartition]) -> [KafkaTopicPartition: KafkaOffset] {
    owned.formUnion(partitions)
    return [:]
  }

  /// Commits what is delivered within a second, and releases the partitions.
  func revoked(_ partitions: [KafkaTopicPartition]) {
    do throws(KafkaError) {
      try intake?.deliverBeforeRevocation()
    } catch {
      failure = error
    }
    lost(partitions)
  }

  /// Releases the partitions without a commit.
  func lost(_ partitions: [KafkaTopicPartition]) {
    owned.subtract(partitions)
    intake?.release(partitions)
  }

  /// Throws the failure of a delivery during the last poll.
  func requireNoFailure() throws(KafkaError) {
    guard let failure else { return }
    self.failure = nil
    throw failure
  }
}
