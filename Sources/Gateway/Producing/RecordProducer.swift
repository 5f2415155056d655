import Dispatch
public import KafkaClient
public import Logging
import Synchronization

/// Writes records to Kafka and tells for each request when a broker has acknowledged all of them.
///
/// `submit` may be called from any thread. One thread runs the producer of librdkafka (`run`). Everything in between is bounded by records
/// and by bytes, and every record is reported within the delivery time: acknowledged, refused or given up.
///
///     submit ──room──► queue ──► librdkafka ──report──► done
///        └─no room, or nothing runs─► refused
public final class RecordProducer: Sendable {
  /// The outcome of a request.
  enum Outcome: Sendable {
    /// A broker has acknowledged every record.
    case acknowledged([Receipt.WrittenPlace])
    /// Not every record was acknowledged. Repeating the request writes those again that were.
    case failed(acknowledged: Int, KafkaError)
    /// Too many records or bytes are under way. Nothing was written.
    case full
    /// The producer does not run, because the process starts or ends or the last producer failed. Nothing was written.
    case closed
  }

  /// The bounds of what is under way.
  public struct Bounds: Sendable {
    /// The records that may wait for a broker's acknowledgement.
    /// - Beyond: a request is refused with 503.
    public var recordsMax = 50_000
    /// The bytes of keys, values and headers of these records.
    /// - Beyond: a request is refused with 503.
    public var bytesMax = 64 << 20
    /// The time in which a record must be acknowledged.
    /// - Beyond: the record is given up, and its request is answered with 503.
    public var deliveryTime = Duration.seconds(10)

    /// Makes the default bounds.
    public init() {}
  }

  typealias Done = @Sendable (Outcome) -> Void

  struct Submission: Sendable {
    var records: [KafkaRecord]
    var bytes: Int
    var done: Done
    var since: ContinuousClock.Instant
  }

  private struct State {
    var isOpen = false
    var queue: [Submission] = []
    var records = 0
    var bytes = 0
  }

  private let configuration: KafkaConfiguration
  private let bounds: Bounds
  private let metrics: GatewayMetrics
  private let logger: Logger
  private let state = Mutex(State())
  private let work = DispatchSemaphore(value: 0)

  /// The bytes that a record counts in addition to its content.
  private static let overheadBytes = 64
  /// The longest time without a look at whether the producer is still wanted, in milliseconds.
  private static let idleMilliseconds = 100

  /// Makes a producer that does not run yet.
  ///
  /// - Parameters:
  ///   - configuration: The properties of librdkafka. Those on which the guarantees rest are set here.
  ///   - bounds: The bounds of what is under way.
  ///   - metrics: The metrics of the gateway.
  ///   - logger: Gets failed deliveries.
  public init(_ configuration: KafkaConfiguration, bounds: Bounds, metrics: GatewayMetrics, logger: Logger) {
    // A client of single events waits for this time with each of them: 64 connections send 8,400 events a second with 5 ms, and 13,300 with
    // 2 ms, at the same processor time for each. With batches it costs a fifth of the throughput, which is far above what is needed.
    let defaults: KafkaConfiguration = [
      "linger.ms": "2", "compression.type": "lz4", "queue.buffering.max.messages": "\(2 * bounds.recordsMax)",
      "queue.buffering.max.kbytes": "\(max(1024, 2 * bounds.bytesMax / 1024))",
    ]
    self.configuration = defaults.merging(configuration).merging([
      "enable.idempotence": "true", "partitioner": "murmur2_random", "message.max.bytes": "4194304",
      "message.timeout.ms": "\(Int(bounds.deliveryTime / .milliseconds(1)))", "delivery.report.only.error": "false",
    ])
    self.bounds = bounds
    self.metrics = metrics
    self.logger = logger
  }

  /// The records and bytes under way.
  var underway: (records: Int, bytes: Int) { state.withLock { ($0.records, $0.bytes) } }

  /// Submits the records of one request.
  ///
  /// - Parameters:
  ///   - records: The records, in order.
  ///   - done: Called once: at once on the calling thread with `full` or `closed`, else later on the producer's thread.
  func submit(_ records: [KafkaRecord], _ done: @escaping Done) {
    guard !records.isEmpty else { return done(.acknowledged([])) }
    let bytes = records.reduce(0) { $0 + $1.bytes + Self.overheadBytes }
    let submission = Submission(records: records, bytes: bytes, done: done, since: .now)
    let refusal: Outcome? = state.withLock { state in
      guard state.isOpen else { return .closed }
      // A request that is larger than the bounds goes alone.
      let fits = state.records + records.count <= bounds.recordsMax && state.bytes + bytes <= bounds.bytesMax
      guard fits || state.records == 0 else { return .full }
      state.records += records.count
      state.bytes += bytes
      state.queue.append(submission)
      return nil
    }
    if let refusal {
      metrics.produced(refusal, count: records.count, since: submission.since)
      return done(refusal)
    }
    work.signal()
  }

  /// Runs the producer on the calling thread, until it is not wanted any longer and every record is reported.
  ///
  /// - Parameters:
  ///   - statistics: Receives librdkafka's statistics; nil for none.
  ///   - isWanted: Whether the producer is to go on. Asked many times a second.
  ///   - turn: Called many times a second, between two pieces of work.
  /// - Throws: `KafkaError` if librdkafka cannot go on. The requests under way are answered before.
  public func run(
    statistics: KafkaStatisticsSink? = nil, while isWanted: () -> Bool, turn: () -> Void
  ) throws(KafkaError) {
    let producer = try KafkaProducer(
      configuration, queueFullTimeout: .zero, failuresMax: 2 * bounds.recordsMax, keepsDeliveries: true,
      statisticsSink: statistics)
    var pending = PendingRequests()
    state.withLock { $0.isOpen = true }
    do throws(KafkaError) {
      while true {
        turn()
        if !isWanted() { state.withLock { $0.isOpen = false } }
        // Each submission has signalled once, and all of them are taken now. A signal that stayed would end a later wait at once.
        while work.wait(timeout: .now()) == .success {}
        let submissions = takeQueue()
        for submission in submissions { send(submission, producer, &pending) }
        if pending.isEmpty, submissions.isEmpty, !isWanted() { return }
        let isIdle = pending.isEmpty
        if isIdle { _ = work.wait(timeout: .now() + .milliseconds(Self.idleMilliseconds)) }
        try producer.poll(timeout: isIdle ? .zero : .milliseconds(1))
        for delivery in producer.takeDeliveries() { finish(pending.took(delivery)) }
        for failure in producer.takeDeliveryFailures() { finish(pending.took(failure)) }
        producer.takeEvents().forEach(log)
      }
    } catch {
      state.withLock { $0.isOpen = false }
      for submission in takeQueue() { finish(PendingRequests.Finished(submission, .failed(acknowledged: 0, error))) }
      for finished in pending.failAll(error) { finish(finished) }
      throw error
    }
  }

  private func takeQueue() -> [Submission] {
    state.withLock { state in
      defer { state.queue = [] }
      return state.queue
    }
  }

  private func send(_ submission: Submission, _ producer: KafkaProducer, _ pending: inout PendingRequests) {
    let first = pending.begin(submission)
    for (index, record) in submission.records.enumerated() {
      var record = record
      record.tag = first + UInt64(index)
      do throws(KafkaError) { try producer.send(record) } catch {
        // The records before it are under way, and are reported.
        return finish(pending.stopped(first, at: index, error))
      }
    }
  }

  private func finish(_ finished: PendingRequests.Finished?) {
    guard let finished else { return }
    state.withLock { state in
      state.records -= finished.submission.records.count
      state.bytes -= finished.submission.bytes
    }
    metrics.produced(finished.outcome, count: finished.submission.records.count, since: finished.submission.since)
    if case .failed(let count, let error) = finished.outcome {
      logger.warning(
        "records of a request were not written",
        metadata: [
          "topic": "\(finished.submission.records.first?.topic ?? "")", "error": "\(error)",
          "acknowledged": "\(count)", "records": "\(finished.submission.records.count)",
        ])
    }
    finished.submission.done(finished.outcome)
  }

  private func log(_ event: KafkaEvent) {
    if case .error(let error) = event { logger.debug("kafka", metadata: ["error": "\(error)"]) }
  }
}

extension KafkaRecord {
  /// The bytes of key, value and headers.
  fileprivate var bytes: Int {
    (key?.count ?? 0) + (value?.count ?? 0) + headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
  }
}
