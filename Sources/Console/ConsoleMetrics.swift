public import Observing
public import Serving

/// The metrics of the console. This is the one place that describes them.
public struct ConsoleMetrics: Sendable {
  let requests, seconds, store, brokers, refusals, records, certificateSeconds: MetricFamily

  /// The upper ends of the buckets of latencies, in seconds.
  private static let secondsBounds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

  /// Adds the metrics to a registry.
  ///
  /// - Parameter registry: The registry.
  public init(_ registry: MetricRegistry) {
    let operation = MetricLabel(
      "operation", upTo: ConsoleRoute.all.count + 1,
      "the operation as in `schemas/openapi.yaml`, the name of a page, or `none` for a request that is none")
    requests = registry.counter(
      "rouse_console_requests_total", [operation, MetricLabel("status", upTo: 16, "the status code")],
      help: "Requests that the console answered",
      advice: "401 or 403: somebody has a wrong key. 503: the store is missing, or the readers are too few.")
    seconds = registry.histogram(
      "rouse_console_request_seconds", Self.secondsBounds,
      help: "Time from the last byte of a request to its answer, with the wait for a reader",
      advice: "Above 0.1 s at the median: the store is large or its disk slow; raise `console.readers`.")
    store = registry.gauge(
      "rouse_console_store_usable", help: "1 if the console can read the audit store, else 0",
      advice: "0: the console has no answers. /readyz of the process says why.")
    brokers = registry.gauge(
      "rouse_console_brokers_reachable",
      help: "1 if a broker answered the console within 5 s when it asked last, else 0",
      advice:
        "0: the console answers from the audit store alone, and nobody can apply a policy or replay a dead letter with it."
    )
    refusals = registry.counter(
      "rouse_console_refused_total",
      [MetricLabel("cause", upTo: RefusalCause.allCases.count, "the reason, as in `rouse audit access --refused`")],
      help: "Attempts that the console refused, for a key, a session, a role, or another site",
      advice: "Many: somebody tries keys, or a program has an old one. `rouse audit access --refused` says who.")
    records = registry.counter(
      "rouse_console_access_records_total", [MetricLabel("outcome", upTo: 2, "`written` or `failed`")],
      help: "Access records that the console was to write, with what became of them",
      advice: "`failed`: nothing is shown or changed without a record. Look at the disk of `audit.store`.")
    certificateSeconds = registry.gauge(
      "rouse_console_certificate_seconds_left",
      help: "Time until the certificate of the console expires. Without a series: no TLS",
      advice: "Below two weeks: the renewal does not work. At 0: browsers refuse the page.")
    certificateSeconds.replace(with: [])
    // A series that begins at 1 would show no increase for the first failure, and no alert would see it.
    for outcome in ["written", "failed"] { records.add(0, [outcome]) }
    for cause in RefusalCause.allCases { refusals.add(0, [cause.rawValue]) }
    // The demo checks neither: both are part of its process.
    set(hasStore: true, hasBrokers: true)
  }

  /// Sets whether the console has what it needs.
  func set(hasStore: Bool, hasBrokers: Bool) {
    store.set(hasStore ? 1 : 0)
    brokers.set(hasBrokers ? 1 : 0)
  }

  /// Sets the metric of the certificate.
  ///
  /// - Parameter certificate: The certificate.
  public func set(_ certificate: TLSCertificate) { certificateSeconds.set(Double(certificate.secondsLeft)) }
}
