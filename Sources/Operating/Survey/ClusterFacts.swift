package import Domain
package import Installation
package import KafkaClient

/// The facts about an installation's topics and readers that a cluster tells to one who only reads.
package struct ClusterFacts: Sendable {
  /// The number of brokers that are up.
  package var brokers = 0
  /// The topics that exist and may be described, by name: Rouse's own and those with events.
  package var topics: [String: KafkaTopic] = [:]
  /// The configurations in force, by topic. Topics whose brokers did not tell are missing.
  package var configurations: [String: [String: String]] = [:]
  /// The differences between the topics and the plan, as `rouse topics check` finds them.
  package var problems: [TopicProblem] = []
  /// The progress of each partition that a role of the process reads.
  package var progress: [PartitionProgress] = []
  /// The permissions that the cluster refused, and that a role of the process needs.
  package var refusals: [AccessRefusal] = []
  /// The newest record of the log; nil if there is none, or the broker does not set its time.
  package var clock: ClockSample?
  /// The newest policy record of each log partition in which one was found.
  package var policies: [Int32: LoggedPolicy] = [:]
  /// The parts of the survey that could not be made, each with the reason.
  package var unseen: [UnseenPart] = []
  /// The place of the newest policy record of the log; nil if none was found.
  package var newestPolicy: (partition: Int32, offset: Int64)? {
    let places = policies.map { partition, policy in
      (PolicyPlace(at: policy.at, offset: policy.offset, partition: partition), partition, policy.offset)
    }
    return places.max { $0.0 < $1.0 }.map { ($0.1, $0.2) }
  }

  /// Makes facts about nothing.
  package init() {}

  /// The progress of a reader in one partition.
  package struct PartitionProgress: Sendable, Equatable {
    /// The role of the reader.
    package var role: Role
    package var partition: KafkaTopicPartition
    /// The offset of the oldest record that the partition still holds.
    package var low: Int64
    /// The offset behind the newest record.
    package var high: Int64
    /// The offset of the next record to read; nil if the reader has no position yet, or if `isKnown` is false.
    package var next: Int64?
    /// Whether the position of the reader could be asked for.
    package var isKnown: Bool
    /// The timestamp of the oldest record that waits, in ms since 1970; nil if none waits, or it could not be read.
    package var waitingSince: Int64?

    /// States the progress of a reader.
    package init(
      role: Role, partition: KafkaTopicPartition, low: Int64, high: Int64, next: Int64?, isKnown: Bool = true,
      waitingSince: Int64? = nil
    ) {
      self.role = role
      self.partition = partition
      self.low = low
      self.high = high
      self.next = next
      self.isKnown = isKnown
      self.waitingSince = waitingSince
    }

    /// The number of offsets from the reader's position to the end; 0 if the position is not known. Markers of transactions count, too.
    package var waiting: Int64 { isKnown ? max(0, high - max(low, next ?? low)) : 0 }
    /// The number of records that were removed before they were read.
    package var lost: Int64 { next.map { max(0, low - $0) } ?? 0 }
  }

  /// A permission that the cluster refused.
  package struct AccessRefusal: Sendable, Hashable {
    package var resource: AccessRule.Resource
    /// The operation that was refused.
    package var operation: AccessRule.Operation

    /// Names a refused permission.
    package init(_ resource: AccessRule.Resource, _ operation: AccessRule.Operation) {
      self.resource = resource
      self.operation = operation
    }
  }

  /// A record whose time the broker set, beside the time of this machine when it was read.
  package struct ClockSample: Sendable, Equatable {
    /// The time that the broker set, in ms since 1970.
    package var brokerMilliseconds: Int64
    /// The wall clock of this machine when the record arrived here, in ms since 1970.
    package var localMilliseconds: Int64
    /// Whether the record was appended while the survey waited for it. Otherwise it may be of any age.
    package var isFresh: Bool

    /// States a sample.
    package init(brokerMilliseconds: Int64, localMilliseconds: Int64, isFresh: Bool) {
      self.brokerMilliseconds = brokerMilliseconds
      self.localMilliseconds = localMilliseconds
      self.isFresh = isFresh
    }
  }

  /// The newest policy record of a log partition.
  package struct LoggedPolicy: Sendable, Equatable {
    /// The offset of the record.
    package var offset: Int64
    /// The timestamp of the record; nil if it has none.
    package var at: Timestamp?
    /// The policy; nil if this release does not accept it.
    package var reference: PolicyReference?

    /// States a policy record.
    package init(offset: Int64, at: Timestamp? = nil, reference: PolicyReference?) {
      self.offset = offset
      self.at = at
      self.reference = reference
    }
  }

  /// A part of the survey that could not be made.
  package struct UnseenPart: Sendable, Equatable {
    /// The part, as a noun phrase.
    package var what: String
    package var reason: String

    /// Names a part.
    package init(_ what: String, reason: String) {
      self.what = what
      self.reason = reason
    }
  }
}
