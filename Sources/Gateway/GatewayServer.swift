public import KafkaClient
public import Keys
public import Logging
public import Observing
public import Serving
import Synchronization

/// A gateway with its server and its producer, as one process runs it.
///
///     start ──► listening; 503 until `runProducer` runs ──► stop: no new requests, those under way are answered ──► ended
public final class GatewayServer: Sendable {
  private let server: HTTPServer
  private let producer: RecordProducer
  private let access: Authenticator?
  private let accessRecords: AccessRecordWriter?
  private let hasEnded = Atomic<Bool>(false)

  /// The time between two looks at the key file.
  private static let keysInterval = Duration.seconds(1)

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - kafka: The properties of librdkafka.
  ///   - access: The keys and tokens; nil if everybody who reaches the gateway may do everything.
  ///   - devices: The registrations in force; nil if the gateway does not know them.
  ///   - records: Takes the access records; nil for none.
  ///   - registry: Gets the metrics of the gateway.
  ///   - logger: Gets failed deliveries, and changes of the keys.
  /// - Returns: The gateway, which answers with 503 until its producer runs.
  /// - Throws: `HTTPListenerError` if the address cannot be had.
  public static func start(
    _ settings: GatewaySettings, kafka: KafkaConfiguration, access: Authenticator?,
    devices: (any RegisteredDevices)? = nil, records: (any AccessRecording)? = nil,
    registry: MetricRegistry, logger: Logger
  ) async throws(HTTPListenerError) -> GatewayServer {
    let metrics = GatewayMetrics(registry)
    let producer = RecordProducer(kafka, bounds: settings.bounds, metrics: metrics, logger: logger)
    let accessRecords = records.map { AccessRecordWriter($0, metrics) }
    let gateway = GatewayService(
      settings, access: access, devices: devices, accessRecords: accessRecords, producer, metrics)
    let server = try await HTTPServer.start(
      settings.listen, gateway, limits: settings.limits, certificate: settings.certificate)
    registry.collect {
      let underway = producer.underway
      metrics.recordsInFlight.set(Double(underway.records))
      metrics.bytesInFlight.set(Double(underway.bytes))
      metrics.connections.set(Double(server.connectionCount))
      if let left = settings.certificate?.secondsLeft { metrics.certificateSeconds.set(Double(left)) }
    }
    return GatewayServer(server, producer, access, accessRecords)
  }

  private init(
    _ server: HTTPServer, _ producer: RecordProducer, _ access: Authenticator?, _ accessRecords: AccessRecordWriter?
  ) {
    self.server = server
    self.producer = producer
    self.access = access
    self.accessRecords = accessRecords
  }

  /// The address that the server has.
  public var address: HTTPAddress { server.address }

  /// The number of open connections of clients.
  public var connectionCount: Int { server.connectionCount }

  /// Whether the gateway has not ended.
  public var isRunning: Bool { !hasEnded.load(ordering: .relaxed) }

  /// Runs the producer on the calling thread until the gateway has ended.
  ///
  /// - Parameters:
  ///   - statistics: Receives librdkafka's statistics; nil for none.
  ///   - turn: Called about once a second.
  /// - Throws: `KafkaError` if librdkafka cannot go on. Until the next call, requests are answered with 503.
  public func runProducer(statistics: KafkaStatisticsSink? = nil, turn: () -> Void) throws(KafkaError) {
    var next = ContinuousClock.now
    try producer.run(
      statistics: statistics, while: { !hasEnded.load(ordering: .relaxed) },
      turn: {
        guard ContinuousClock.now >= next else { return }
        next = .now + Self.keysInterval
        access?.refresh()
        turn()
      })
  }

  /// Ends the server, and then the producer. Requests under way are answered before.
  public func stop() async {
    await server.stop()
    hasEnded.store(true, ordering: .relaxed)
    accessRecords?.end()
  }
}
