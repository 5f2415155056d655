public import Observing

/// The metrics of the gateway. This is the one place that describes them.
public struct GatewayMetrics: Sendable {
  let requests, records, bytes, recordsInFlight, bytesInFlight, connections, certificateSeconds,
    produceSeconds, accessRecords: MetricFamily

  /// The upper ends of the buckets of latencies, in seconds.
  private static let secondsBounds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

  /// Adds the metrics to a registry.
  ///
  /// - Parameter registry: The registry.
  public init(_ registry: MetricRegistry) {
    let operation = MetricLabel(
      "operation", upTo: GatewayOperation.allCases.count + 1,
      "the operation as in `schemas/openapi.yaml`, or `none` for a request that is none")
    requests = registry.counter(
      "rouse_gateway_requests_total", [operation, MetricLabel("status", upTo: 16, "the status code")],
      help: "Requests that the gateway answered",
      advice:
        "401 or 403: a client has a wrong key. 400: the answer has the reason. 429: raise `gateway.recordsPerSecond`. 503: see rouse_gateway_records_in_flight."
    )
    records = registry.counter(
      "rouse_gateway_records_total", [MetricLabel("outcome", upTo: 3, "`acknowledged`, `failed` or `refused`")],
      help: "Records that the gateway was to write, with what became of them",
      advice: "`failed`: the brokers did not take them in time. `refused`: too many were under way.")
    bytes = registry.counter(
      "rouse_gateway_request_bytes_total", help: "Bytes of the bodies of requests",
      advice: "A jump without one of rouse_gateway_records_total: a client sends what is refused.")
    accessRecords = registry.counter(
      "rouse_gateway_access_records_total", [MetricLabel("outcome", upTo: 2, "`written` or `failed`")],
      help: "Records of who changed a device that the gateway was to write, with what became of them",
      advice: "`failed`: changes of devices get 503. Look at the disk of `gateway.accessFile`.")
    recordsInFlight = registry.gauge(
      "rouse_gateway_records_in_flight", help: "Records that wait for the acknowledgement of a broker",
      advice: "Near `gateway.recordsInFlightMax`: the brokers are slower than the clients. Requests get 503.")
    bytesInFlight = registry.gauge(
      "rouse_gateway_bytes_in_flight", help: "Bytes of the records that wait for the acknowledgement of a broker",
      advice: "Near `gateway.megabytesInFlightMax`: as for the records.")
    connections = registry.gauge(
      "rouse_gateway_connections", help: "Open connections of clients",
      advice: "At `gateway.connectionsMax`: further clients wait. Add a gateway, or look for a client that leaks them.")
    certificateSeconds = registry.gauge(
      "rouse_gateway_certificate_seconds_left",
      help: "Time until the certificate of the gateway expires. Without a series: no TLS",
      advice: "Below two weeks: the renewal does not work. At 0: clients refuse the connection.")
    produceSeconds = registry.histogram(
      "rouse_gateway_produce_seconds", Self.secondsBounds,
      help: "Time from a request's last byte to the acknowledgement of all its records",
      advice: "Above 0.1 s at the median: look at the brokers, and at rouse_kafka_queued_records.")
    certificateSeconds.replace(with: [])
    // A series that begins at 1 would show no increase for the first failure, and no alert would see it.
    for outcome in ["acknowledged", "failed", "refused"] { records.add(0, [outcome]) }
    for outcome in ["written", "failed"] { accessRecords.add(0, [outcome]) }
    for operation in GatewayOperation.allCases {
      for status in ["401", "403", "503"] { requests.add(0, [operation.rawValue, status]) }
    }
  }

  /// Counts a request.
  func answered(_ operation: GatewayOperation?, status: Int, bodyBytes: Int = 0) {
    requests.add(1, [operation?.rawValue ?? "none", "\(status)"])
    if bodyBytes > 0 { bytes.add(bodyBytes) }
  }

  /// Counts the records of a request that was submitted.
  func produced(_ outcome: RecordProducer.Outcome, count: Int, since: ContinuousClock.Instant) {
    switch outcome {
    case .acknowledged:
      records.add(count, ["acknowledged"])
      produceSeconds.observe((.now - since) / .seconds(1))
    case .failed(let acknowledged, _):
      records.add(acknowledged, ["acknowledged"])
      records.add(count - acknowledged, ["failed"])
    case .full, .closed: records.add(count, ["refused"])
    }
  }
}
