package import Installation
import Observing

/// The metrics of Kafka clients, from librdkafka's own statistics.
struct KafkaMetrics {
  let queuedRecords, queuedBytes, requestsWaiting, brokersConnected, roundTrip, age: MetricFamily
  let transmitErrors, receiveErrors, requestTimeouts, disconnects, unreadable: MetricFamily
  static let (mean, p99) = ("mean", "p99")

  /// Returns the value of the label `client`.
  static func client(_ role: Role, _ sort: RealCluster.ClientSort) -> String { "\(role.rawValue)-\(sort.rawValue)" }

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    let client = MetricLabel(
      "client", upTo: 7,
      "the role and the sort of client, such as `planner-producer`; summed over the threads of the role, or the worst of them"
    )
    queuedRecords = registry.gauge(
      "rouse_kafka_queued_records", [client],
      help: "Records in a producer that no broker has confirmed, or in a consumer that the stage has not taken",
      advice: "Growing in a producer: the brokers are slow. In a consumer: the stage is slow, or paused.")
    queuedBytes = registry.gauge(
      "rouse_kafka_queued_bytes", [client], help: "Bytes of the records of rouse_kafka_queued_records",
      advice: "Part of the memory of the process. `queued.max.messages.kbytes` bounds it for each consumer.")
    requestsWaiting = registry.gauge(
      "rouse_kafka_requests_waiting", [client], help: "Requests to brokers that are not sent or not answered yet",
      advice: "Growing: a broker hangs, or the network drops packets. See rouse_kafka_round_trip_seconds.")
    brokersConnected = registry.gauge(
      "rouse_kafka_brokers_connected", [client],
      help: "Brokers to which the client has a connection now; it connects to those that it needs",
      advice: "0: no broker can be reached. The log has the error of the last attempt.")
    roundTrip = registry.gauge(
      "rouse_kafka_round_trip_seconds",
      [client, MetricLabel("statistic", upTo: 2, "`mean` over all brokers, or `p99` of the slowest broker")],
      help: "Time from a request to the broker's answer; a fetch waits for records, a commit for replicas",
      advice: "Jumping in a producer: the brokers' disks or network. `fetch.wait.max.ms` of idle consumers is usual.")
    age = registry.gauge(
      "rouse_kafka_statistics_age_seconds", [client],
      help: "Age of the oldest statistics of a client, of which the other gauges of this client are made",
      advice:
        "Above three times `kafka.statisticsIntervalSeconds`: the thread of the client waits, as in a commit that the brokers do not answer, and its gauges show the time before. See rouse_turn_age_seconds."
    )
    transmitErrors = registry.counter(
      "rouse_kafka_transmit_errors_total", [client], help: "Requests that could not be sent to a broker",
      advice: "Some while a broker restarts are usual. Steady ones: look at the network.")
    receiveErrors = registry.counter(
      "rouse_kafka_receive_errors_total", [client], help: "Answers of brokers that could not be read",
      advice: "Connections that break off: a proxy or load balancer with a short time-out, or a failing network.")
    requestTimeouts = registry.counter(
      "rouse_kafka_request_timeouts_total", [client], help: "Requests that a broker did not answer in time",
      advice: "A broker hangs or is overloaded: look at its request queue and its disks.")
    disconnects = registry.counter(
      "rouse_kafka_disconnects_total", [client], help: "Connections to brokers that ended",
      advice: "A few an hour are usual, because brokers close idle connections.")
    unreadable = registry.counter(
      "rouse_kafka_statistics_unreadable_total", [client],
      help: "Statistics of Kafka clients that were not JSON or too large, so that the older ones are shown",
      advice: "Set `kafka.statisticsIntervalSeconds` to 0, and report the version of librdkafka (`/version`).")
  }
}

extension RealCluster {
  /// Makes the cluster as a stage uses it. Clients whose configuration has an interval of statistics show them in the metrics.
  ///
  /// - Parameters:
  ///   - role: The role of the stage.
  ///   - counters: The metrics of the process.
  package convenience init(_ role: Role, _ counters: PipelineCounters) {
    let clients = counters.clients
    self.init { clients.sink(KafkaMetrics.client(role, $0)) }
  }
}
