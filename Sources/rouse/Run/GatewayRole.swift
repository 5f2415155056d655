import Foundation
import Gateway
import Installation
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
  ///   - files: The open files of the process.
  ///   - tokens: The tokens that are taken beside keys; nil for none.
  ///   - runner: Runs the thread.
  ///   - counters: Gets the metrics and the status.
  ///   - logger: Gets what happens.
  /// - Returns: The gateway, to be stopped at the end; nil if the process does not have the role.
  /// - Throws: `Failure` that says what to do if the address cannot be had or the key file or the certificate cannot be used.
  static func start(
    _ settings: Settings, _ pipeline: PipelineSettings, _ files: OpenFiles, _ tokens: TokenAuthority?,
    on runner: RoleRunner, _ counters: PipelineCounters,
    _ logger: Logger
  ) async throws -> GatewayServer? {
    guard var gateway = try settings.gateway(pipeline) else { return nil }
    gateway.limits.connectionsMax = files.gatewayConnections
    gateway.certificate = try settings.certificate(.gatewayTLSCertificate, .gatewayTLSKey, logger)
    let keys = try keys(settings, logger)
    let access = access(settings, keys, tokens)
    let view = try settings.text(.gatewayDevicesView).map {
      try DevicesView($0, .gatewayDevicesView, group: pipeline.cluster.gatewayGroup, pipeline, logger)
    }
    let interval = pipeline.statistics.map { "\(Int($0 / .milliseconds(1)))" } ?? "0"
    let server: GatewayServer
    do throws(HTTPListenerError) {
      server = try await GatewayServer.start(
        gateway, kafka: pipeline.kafka.merging(["statistics.interval.ms": interval]), access: access,
        devices: view?.devices,
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
    view?.keep(on: runner, counters, isOnlyShown: false) { server.isRunning }
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

  private static func access(_ settings: Settings, _ keys: KeyRing?, _ tokens: TokenAuthority?) -> Authenticator? {
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
