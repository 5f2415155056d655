import DeviceView
import Domain
import Foundation
import Gateway
import KafkaClient
import Keys
import Logging
import Observing
import Pipeline
import Serving

/// Runs the role `gateway` of a process.
enum GatewayRole {
  /// Starts the gateway, and the thread of its producer.
  ///
  /// - Parameters:
  ///   - settings: The settings of the process.
  ///   - pipeline: The settings of the pipeline.
  ///   - tokens: The tokens that are taken beside keys; nil for none.
  ///   - runner: Runs the thread.
  ///   - counters: Gets the metrics and the status.
  ///   - logger: Gets what happens.
  /// - Returns: The gateway, to be stopped at the end; nil if the process does not have the role.
  /// - Throws: `Failure` that says what to do if the address cannot be had or the key file or the certificate cannot be used.
  static func start(
    _ settings: Settings, _ pipeline: PipelineSettings, _ tokens: TokenDesk?, on runner: RoleRunner,
    _ counters: PipelineCounters,
    _ logger: Logger
  ) async throws -> GatewayServer? {
    guard var gateway = try settings.gateway(pipeline) else { return nil }
    gateway.certificate = try settings.certificate(.gatewayTLSCertificate, .gatewayTLSKey, logger)
    let keys = try keys(settings, logger)
    let access = access(settings, keys, tokens)
    let devices = try devices(settings, pipeline)
    let interval = pipeline.statistics.map { "\(Int($0 / .milliseconds(1)))" } ?? "0"
    let server: GatewayServer
    do throws(HTTPListenerError) {
      server = try await GatewayServer.start(
        gateway, kafka: pipeline.kafka.merging(["statistics.interval.ms": interval]), access: access,
        devices: devices.map { ViewedDevices(store: $0) },
        records: settings.gatewayAccessPath.map {
          GatewayAccessRecords(path: $0, limits: settings.gatewayAccessLimits)
        },
        registry: counters.registry, logger: logger)
    } catch {
      throw Failure("\(error); choose another address with \(SettingKey.gatewayListen.rawValue)")
    }
    let hasStatistics = pipeline.statistics != nil
    runner.start("gateway") { () throws(PipelineError) in
      defer { counters.gatewayEnded() }
      do throws(KafkaError) {
        try server.runProducer(statistics: hasStatistics ? counters.gatewayStatistics() : nil) {
          counters.gatewayTurned(at: Int64(Date().timeIntervalSince1970 * 1_000_000))
        }
      } catch {
        throw .kafka(error)
      }
    }
    if let devices { read(pipeline, devices, server, on: runner, counters, logger) }
    logger.info(
      "the gateway listens",
      metadata: [
        "address": "\(gateway.certificate == nil ? "http" : "https")://\(server.address.text)",
        "events": "\(gateway.topics.events)",
        "keys": keys.map { "\($0.count)" } ?? "none", "issuer": "\(tokens?.issuer ?? "none")",
      ])
    if settings.gatewayAccessPath == nil {
      logger.warning(
        "the gateway keeps no records of who changes devices or is refused; gateway.accessFile names a file for them")
    }
    if access == nil {
      logger.warning(
        "the gateway has neither keys nor tokens, so it listens on this host only, and everybody here may publish")
    }
    return server
  }

  /// Opens the view of the registrations; nil if there is to be none.
  private static func devices(_ settings: Settings, _ pipeline: PipelineSettings) throws -> DeviceStore? {
    guard let path = settings.text(.gatewayDevicesView) else { return nil }
    do throws(DeviceStoreError) { return try DeviceStore(path: path, topic: pipeline.topics.devices) } catch {
      throw Failure("\(SettingKey.gatewayDevicesView.rawValue): \(error)")
    }
  }

  /// Starts the threads that keep the view up to date. A full disk makes the view old, and stops nothing else.
  private static func read(
    _ pipeline: PipelineSettings, _ store: DeviceStore, _ server: GatewayServer, on runner: RoleRunner,
    _ counters: PipelineCounters, _ logger: Logger
  ) {
    let metrics = DeviceViewMetrics(counters.registry)
    counters.registry.collect { metrics.set(age: store.age(at: Date())) }
    let kafka = pipeline.kafka.merging(["group.id": pipeline.gatewayGroup])
    runner.start("gateway-devices") { () throws(PipelineError) in
      let feed = DeviceFeed(store, topic: pipeline.topics.devices, kafka: kafka, metrics: metrics, logger: logger)
      try retryingStore(logger) { () throws(DeviceFeed.FeedError) in try feed.run { server.isRunning } }
    }
    runner.start("gateway-signals") { () throws(PipelineError) in
      let feed = SignalFeed(store, topic: pipeline.topics.signals, kafka: kafka, metrics: metrics, logger: logger)
      try runSignals(logger) { () throws(DeviceFeed.FeedError) in try feed.run { server.isRunning } }
    }
  }

  /// Runs a feed of signals. Looks are only shown, so a lack of permission ends nothing: it is logged, and tried again by the next feed.
  ///
  /// - Parameters:
  ///   - logger: Gets what the file or the brokers refuse.
  ///   - feed: Runs the feed.
  /// - Throws: `PipelineError` if Kafka fails.
  static func runSignals(_ logger: Logger, _ feed: () throws(DeviceFeed.FeedError) -> Void) throws(PipelineError) {
    try retryingStore(logger) { () throws(DeviceFeed.FeedError) in
      do throws(DeviceFeed.FeedError) { try feed() } catch {
        guard case .kafka(let cause) = error, cause.code.refusesPrincipal else { throw error }
        logger.warning(
          "the topic of signals may not be read, so pages of devices show no looks; rouse topics acls prints what is missing",
          metadata: ["error": "\(cause)"])
      }
    }
  }

  /// Runs a feed of the view. What the file refuses is logged, and tried again by the next feed.
  ///
  /// - Parameters:
  ///   - logger: Gets what the file refuses.
  ///   - feed: Runs the feed.
  /// - Throws: `PipelineError` if Kafka fails.
  static func retryingStore(_ logger: Logger, _ feed: () throws(DeviceFeed.FeedError) -> Void) throws(PipelineError) {
    do throws(DeviceFeed.FeedError) { try feed() } catch {
      switch error {
      case .kafka(let error): throw .kafka(error)
      case .store(let error):
        logger.warning(
          "the view of devices cannot be written, so it becomes old; it is tried again", metadata: ["error": "\(error)"]
        )
      }
    }
  }

  private static func access(_ settings: Settings, _ keys: KeyRing?, _ tokens: TokenDesk?) -> Authenticator? {
    guard keys != nil || tokens != nil else { return nil }
    return Authenticator(keys: keys, tokens: tokens?.verifier, recordsPerSecond: settings.gatewayRate)
  }

  private static func keys(_ settings: Settings, _ logger: Logger) throws -> KeyRing? {
    guard let path = settings.text(.gatewayKeys) else { return nil }
    do throws(KeyFileError) {
      return try KeyRing(path: path, recordsPerSecond: settings.gatewayRate, logger: logger)
    } catch {
      throw Failure(
        "\(SettingKey.gatewayKeys.rawValue): \(error); make a key file with rouse keys create --file \(path)")
    }
  }
}
