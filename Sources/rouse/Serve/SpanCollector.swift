import ArgumentParser
import Foundation
import Logging
import Observing
import Pipeline

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The collector that gets the spans of a process, over HTTP.
struct SpanCollector: Sendable {
  /// The address to which spans are sent.
  let endpoint: URL
  /// The header fields of each request besides those of its content, such as a key.
  let headers: [HeadersFile.HeaderLine]

  /// The longest time of a request, in seconds.
  static let timeLimit: TimeInterval = 10

  /// Starts to export the spans of a process.
  ///
  /// - Parameters:
  ///   - instance: The name of the process.
  ///   - counters: The traces of the process, and the metrics of their export.
  ///   - logger: Gets the first of several failures, and says when they are over.
  ///   - timeLimit: The longest time of a request, in seconds.
  /// - Returns: The exporter, to be stopped at the end; nil if the process makes no traces.
  func start(
    instance: String, _ counters: PipelineCounters, _ logger: Logger, timeLimit: TimeInterval = Self.timeLimit
  ) -> SpanExporter? {
    guard let traces = counters.traces else { return nil }
    let requests = BlockingRequests(timeLimit: timeLimit)
    let exporter = SpanExporter(
      of: traces.tracer, service: ("rouse", Rouse.configuration.version, instance), metrics: counters.spans,
      send: { bytes in try post(bytes, requests) },
      tell: { error in
        if let error {
          logger.warning(
            "the collector does not take traces; spans are lost until it does", metadata: ["error": "\(error)"])
        } else {
          logger.info("the collector takes traces")
        }
      })
    exporter.start()
    return exporter
  }

  /// Sends one request, and waits for its answer on the calling thread.
  ///
  /// - Throws: ``Failure`` when the collector does not accept it.
  private func post(_ bytes: [UInt8], _ requests: BlockingRequests) throws(Failure) {
    var request = URLRequest(url: endpoint)
    request.httpMethod = "POST"
    for field in headers { request.setValue(field.value, forHTTPHeaderField: field.name) }
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = Data(bytes)
    let status = try requests.send(request).status
    if !(200..<300).contains(status) { throw Failure("the collector answers with status \(status)") }
  }
}
