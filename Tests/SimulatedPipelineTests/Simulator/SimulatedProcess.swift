import KafkaClient

@testable import Installation
@testable import Pipeline

/// One process. Its clients die with it; the broker's memory of them does not.
final class SimulatedProcess: Cluster {
  let name: String
  let broker: SimulatedBroker
  let fate: (any Fate)?
  /// Whether it has crashed: its calls then have no effect.
  private(set) var isDead = false
  /// Whether neither its own thread nor its background threads are scheduled.
  var isFrozen = false
  /// Whether it has ended in order.
  var hasEnded = false
  private var consumers: [SimulatedConsumer] = []
  private var producers: [SimulatedProducer] = []

  init(name: String, broker: SimulatedBroker, fate: (any Fate)? = nil) {
    self.name = name
    self.broker = broker
    self.fate = fate
    broker.join(self)
  }

  var isGone: Bool { isDead || hasEnded }

  func crash() { isDead = true }

  /// Runs the clients' own threads.
  func background() {
    guard !isGone, !isFrozen else { return }
    consumers.removeAll { $0.isClosed }
    for consumer in consumers { consumer.background() }
    for producer in producers { producer.background() }
  }

  /// Whether one of its consumers has the partition and got all of its records.
  func hasRead(_ partition: KafkaTopicPartition) -> Bool { consumers.contains { $0.hasRead(partition) } }

  /// Whether nothing waits to be sent.
  var isIdle: Bool { producers.allSatisfy(\.isIdle) }

  // MARK: Calls

  func die(_ operation: String) -> KafkaError {
    isDead = true
    return Self.crashed(operation)
  }

  static func crashed(_ operation: String) -> KafkaError {
    KafkaError(code: .closed, message: "the process has crashed", operation: operation, isFatal: true)
  }

  /// Makes a call, with the fault that happens at it.
  func perform<Result>(
    _ call: PortCall, _ body: () throws(KafkaError) -> Result
  ) throws(KafkaError) -> Result {
    guard !isDead else { throw Self.crashed(call.rawValue) }
    broker.pass(20)
    let mishap = fate?.mishap(at: call, of: self)
    switch mishap {
    case .crashBefore: throw die(call.rawValue)
    case .refused: throw Self.refusal(call, fate)
    case .overtaken, .frozen, .delayed:
      if let mishap { fate?.interrupt(self, by: mishap) }
    case .coordinatorMoves: broker.coordinatorsMoveUntil = broker.time.now + 300_000
    case .fatal where call == .initTransactions || call == .sendOffsets || call == .commit || call == .producerPoll:
      for producer in producers where producer.isTransactional { producer.fail(fatally: call.rawValue) }
    case .abortable:
      for producer in producers where producer.isTransactional { producer.requireAbort() }
    case .messagesExpire: for producer in producers { producer.expireSome() }
    case .partlySent: for producer in producers { producer.sendSome() }
    case .crashAfter, .answerLost, .fatal, nil: break
    }
    guard !isDead else { throw Self.crashed(call.rawValue) }
    let result = try body()
    switch mishap {
    case .crashAfter: throw die(call.rawValue)
    case .answerLost:
      throw KafkaError(code: .timedOut, message: "no answer", operation: call.rawValue, isRetriable: true)
    default: return result
    }
  }

  /// Refuses a call while the coordinator moves.
  ///
  /// - Throws: `KafkaError` with the code `notCoordinator`.
  func requireCoordinator(_ operation: String) throws(KafkaError) {
    guard broker.time.now < broker.coordinatorsMoveUntil else { return }
    broker.pass(50_000)
    throw KafkaError(code: .notCoordinator, message: "the coordinator moves", operation: operation)
  }

  private static func refusal(_ call: PortCall, _ fate: (any Fate)?) -> KafkaError {
    let codes: [KafkaErrorCode] = [.timedOut, .transportFailed, .requestTimedOut, .coordinatorLoading]
    let code = call == .send ? .queueFull : codes[fate?.below(codes.count) ?? 0]
    return KafkaError(code: code, message: "made up", operation: call.rawValue, isRetriable: true)
  }

  // MARK: Cluster

  func consumer(
    _ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?
  ) throws(KafkaError) -> any ClusterConsumer {
    guard !isDead else { throw Self.crashed("making a consumer") }
    let consumer = SimulatedConsumer(configuration, listener: listener, process: self)
    consumers.append(consumer)
    return consumer
  }

  func producer(
    _ configuration: KafkaConfiguration, queueFullTimeout: Duration
  ) throws(KafkaError) -> any ClusterProducer {
    guard !isDead else { throw Self.crashed("making a producer") }
    let producer = SimulatedProducer(configuration, process: self)
    producers.append(producer)
    return producer
  }

  func partitionCounts(of topics: [String], _ configuration: KafkaConfiguration) throws(KafkaError) -> [Int32] {
    try perform(.partitionCount) { () throws(KafkaError) in topics.map { Int32(broker.topics[$0]?.logs.count ?? 0) } }
  }
}

extension KafkaConfiguration {
  func number(_ key: String, _ otherwise: Int) -> Int { self[key].flatMap { Int($0) } ?? otherwise }
}
