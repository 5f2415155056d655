import Glibc

/// A Kafka endpoint inside this process, for tests and demonstrations: librdkafka's mock cluster.
///
/// It listens on 127.0.0.1 at a random port, and any client of this machine can use it. The cluster and all its records live
/// as long as this object. Use it on one thread at a time. Its limits, with librdkafka 2.0.2:
/// - Transactions pass through their states without isolation: records of a transaction are visible at once, even if the
///   transaction is aborted later; offsets sent to a transaction are lost. No producer is ever fenced.
/// - Sequence numbers of idempotent producers are not checked. The cluster accepts a request behind one that was made to fail,
///   and the client then takes both for written. Tests of such failures need `max.in.flight.requests.per.connection` 1.
/// - A partition keeps about its last 5 MB or 100,000 messages; older ones are dropped.
/// - Topics are made with ``createTopic(_:partitions:replicas:)`` or by being used (then with 4 partitions).
///   ``KafkaAdmin/createTopics(_:timeout:)`` and ``KafkaAdmin/describeTopicConfiguration(_:timeout:)`` get no answer.
/// - There is no compaction, no static membership across restarts, and no search for offsets by time.
/// - The first join of a group takes about 3 s, and a killed member blocks its group for `session.timeout.ms`.
public final class EmbeddedBroker {
  private let handle: MockClusterHandle
  /// The ports of the brokers that are down, by their ids.
  private var held: [Int32: HeldPort] = [:]

  /// Starts a cluster.
  /// - Parameters:
  ///   - brokers: The number of brokers, at least 1; their ids begin with 1.
  ///   - logSink: Receives librdkafka's log; without it nothing is logged.
  /// - Throws: A ``KafkaError`` if no port can be opened.
  public init(brokers: Int = 1, logSink: KafkaLogSink? = nil) throws(KafkaError) {
    precondition(brokers > 0, "an embedded cluster needs at least one broker")
    handle = try MockClusterHandle(brokers: brokers, logSink: logSink)
  }

  /// The value for `bootstrap.servers`.
  public var bootstrapServers: String { handle.bootstrapServers }

  /// Creates a topic.
  /// - Parameters:
  ///   - name: The topic's name.
  ///   - partitions: The number of partitions, from 1.
  ///   - replicas: The number of copies of each partition, at most the number of brokers.
  /// - Throws: A ``KafkaError`` if the topic exists or the numbers are refused.
  public func createTopic(_ name: String, partitions: Int, replicas: Int = 1) throws(KafkaError) {
    try handle.createTopic(name, partitions: partitions, replicas: replicas)
  }

  /// Makes the next requests of one kind fail.
  /// - Parameters:
  ///   - request: The kind of request.
  ///   - codes: One error for each coming request, in order. ``KafkaErrorCode/transportFailed`` makes the broker drop the
  ///     connection instead.
  public func pushRequestErrors(_ request: KafkaRequest, _ codes: [KafkaErrorCode]) {
    handle.pushErrors(request.rawValue, codes)
  }

  /// Discards the errors that were pushed and have not happened yet.
  /// - Parameter request: The kind of request.
  public func clearRequestErrors(_ request: KafkaRequest) {
    handle.clearErrors(request.rawValue)
  }

  /// Makes requests for a topic's metadata, and the topic's part in transactions, fail.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - code: The error of every such request from now on; `nil` ends the failure.
  public func setTopicError(_ topic: String, _ code: KafkaErrorCode?) {
    handle.setTopicError(topic, code)
  }

  /// Drops a broker's connections and refuses new ones. Its partitions keep their leader, and it keeps its port.
  /// - Parameter broker: The broker's id; `nil` is every broker.
  /// - Throws: A ``KafkaError`` if there is no such broker.
  public func setBrokerDown(_ broker: Int32? = nil) throws(KafkaError) {
    // Until the broker has bound its port anew, a connection keeps the port; from then on the held port does.
    // A broker that does not answer it (requests for versions were made to fail, or answers are late) goes down without.
    let connections = ports(of: broker).filter { held[$0.id] == nil }.map { PortConnection(port: $0.port, patience: 5) }
    try withExtendedLifetime(connections) { () throws(KafkaError) in try handle.setUp(false, broker: broker ?? -1) }
    for (id, port) in ports(of: broker) where held[id] == nil { held[id] = HeldPort(port) }
  }

  /// Accepts connections again.
  /// - Parameter broker: The broker's id; `nil` is every broker.
  /// - Throws: A ``KafkaError`` if there is no such broker.
  public func setBrokerUp(_ broker: Int32? = nil) throws(KafkaError) {
    try handle.setUp(true, broker: broker ?? -1)
    for (id, _) in ports(of: broker) { held[id] = nil }
  }

  /// Returns the port of a broker, or those of all.
  private func ports(of broker: Int32?) -> [(id: Int32, port: UInt16)] {
    let ports = bootstrapServers.split(separator: ",").map { $0.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }
    return zip(1..., ports).filter { broker == nil || broker == $0.0 }
  }

  /// Delays every answer.
  /// - Parameters:
  ///   - time: The delay, rounded up to whole milliseconds.
  ///   - broker: The broker's id; `nil` is every broker.
  /// - Throws: A ``KafkaError`` if there is no such broker.
  public func setRoundTripTime(_ time: Duration, broker: Int32? = nil) throws(KafkaError) {
    try handle.setRoundTripTime(time, broker: broker ?? -1)
  }

  /// Moves a partition to another leader.
  /// - Parameters:
  ///   - partition: The partition.
  ///   - broker: The new leader's id; `nil` leaves the partition without one.
  /// - Throws: A ``KafkaError`` if there is no such partition or broker.
  public func setLeader(of partition: KafkaTopicPartition, to broker: Int32?) throws(KafkaError) {
    try handle.setLeader(partition, broker: broker ?? -1)
  }
}

/// A TCP port of 127.0.0.1 that nobody else gets, and on which nobody listens: connections to it are refused.
///
/// The embedded broker gives up the port of a broker that is down, and ends the process if the port is taken when the broker comes back. A
/// broker can listen on a held port, because both ask for addresses that may be used again.
final class HeldPort {
  private let descriptor: Int32

  /// Takes a port.
  ///
  /// - Parameter number: The port.
  /// - Returns: nil if it cannot be had.
  init?(_ number: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var on: Int32 = 1
    var address = sockaddr_in.loopback(number)
    // POSIX: the number and the address are lent for the calls, which read as many bytes as they are told.
    let isShared = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard isShared == 0, isBound == 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}

/// A kind of request of the Kafka protocol, identified by its API key.
public struct KafkaRequest: RawRepresentable, Sendable, Hashable {
  /// The API key of the Kafka protocol.
  public var rawValue: Int16

  /// Wraps an API key.
  /// - Parameter rawValue: The key; every number is accepted.
  public init(rawValue: Int16) {
    self.rawValue = rawValue
  }

  /// Writes messages.
  public static let produce = Self(rawValue: 0)
  /// Reads messages.
  public static let fetch = Self(rawValue: 1)
  /// Tells the coordinator that a member of a group is alive.
  public static let heartbeat = Self(rawValue: 12)
  /// Distributes the partitions among a group's members.
  public static let syncGroup = Self(rawValue: 14)
  /// Adds partitions to a transaction.
  public static let addPartitionsToTransaction = Self(rawValue: 24)
  /// Commits or aborts a transaction.
  public static let endTransaction = Self(rawValue: 26)
  /// Commits a group's offsets in a transaction.
  public static let transactionOffsetCommit = Self(rawValue: 28)
}
