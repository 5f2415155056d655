import CoreMetrics
import Observing
import Pipeline
import Serving

/// Serves the pages for machines while a process runs, and makes libraries count in its registry.
enum MachineServer {
  /// The word that turns the listener off.
  static let off = "off"

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - listen: The setting `http.listen`; `off` for no listener.
  ///   - pages: The pages.
  ///   - counters: The metrics of the process, which get those of the process itself and of libraries.
  ///   - connectionsMax: The largest number of connections at a time.
  /// - Returns: The listener; nil if it is off.
  /// - Throws: `Failure` that says what to do if the address cannot be had.
  static func start(
    _ listen: HTTPAddress?, _ pages: MachinePages, _ counters: PipelineCounters, connectionsMax: Int
  ) async throws -> HTTPListener? {
    observe(counters.registry)
    guard let listen else { return nil }
    do throws(HTTPListenerError) {
      return try await HTTPListener.start(listen, pages: pages.pages, connectionsMax: connectionsMax)
    } catch {
      throw Failure(
        "\(error); give each process of a host its own address with http.listen, such as 127.0.0.1:9465, or turn it off with http.listen=off"
      )
    }
  }

  /// Starts to listen on the default address, or on a free port of this host if another program has that.
  ///
  /// - Parameters:
  ///   - pages: The pages.
  ///   - counters: The metrics of the process.
  /// - Returns: The listener.
  /// - Throws: `HTTPListenerError` if there is no free port either.
  static func startAnywhere(
    _ pages: MachinePages, _ counters: PipelineCounters
  ) async throws(HTTPListenerError) -> HTTPListener {
    observe(counters.registry)
    let address = defaultAddress
    do throws(HTTPListenerError) {
      return try await HTTPListener.start(address, pages: pages.pages)
    } catch {
      guard error.isTaken else { throw error }
      return try await HTTPListener.start(HTTPAddress(host: address.host, port: 0), pages: pages.pages)
    }
  }

  /// Adds the metrics of the process and of libraries to its registry.
  private static func observe(_ registry: MetricRegistry) {
    ProcessMetrics.add(to: registry)
    MetricsSystem.bootstrap(RegistryMetricsFactory(registry))
  }

  /// The default of `http.listen`: a port that Prometheus users know, and only this host reaches.
  static let defaultAddress = HTTPAddress(host: "127.0.0.1", port: 9464)
}
