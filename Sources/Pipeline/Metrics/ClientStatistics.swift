import KafkaClient
import Observing
import Synchronization

/// The newest statistics of each Kafka client of the process. May be used from any thread.
///
/// A client writes its statistics every `kafka.statisticsIntervalSeconds`, on the thread that polls it. Totals go to the metrics at once; the
/// rest is shown at the next exposition, summed over the clients with the same label. A client that is gone is forgotten. The statistics of a
/// client that nobody polls stand still, as those of a consumer do while its thread waits for a commit; their age tells.
final class ClientStatistics: Sendable {
  private struct State {
    var clients: [Int: (label: String, figures: ClientFigures, at: ContinuousClock.Instant)] = [:]
    var next = 0
  }

  private let metrics: KafkaMetrics
  private let state = Mutex(State())

  /// Makes statistics without clients.
  init(_ metrics: KafkaMetrics) { self.metrics = metrics }

  /// Returns a receiver of the statistics of a new client. The client is forgotten when the receiver is released.
  ///
  /// - Parameter label: The value of the label `client`.
  func sink(_ label: String) -> KafkaStatisticsSink {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    let receiver = Receiver(clients: self, number: number, label: label)
    return { receiver.take($0) }
  }

  /// Sets the gauges from the newest statistics.
  ///
  /// - Parameter now: The time from which ages count.
  func show(at now: ContinuousClock.Instant = .now) {
    let clients = state.withLock { Array($0.clients.values) }
    var sums: [String: ClientFigures] = [:]
    var ages: [String: Double] = [:]
    for (label, figures, at) in clients {
      sums[label, default: ClientFigures()].add(figures)
      ages[label] = max(ages[label] ?? 0, at.duration(to: now) / .seconds(1))
    }
    metrics.age.replace(with: ages.map { ([$0.key], $0.value) })
    func gauge(_ value: (ClientFigures) -> Double) -> [(labels: [String], value: Double)] {
      sums.map { ([$0.key], value($0.value)) }
    }
    metrics.queuedRecords.replace(with: gauge(\.queuedRecords))
    metrics.queuedBytes.replace(with: gauge(\.queuedBytes))
    metrics.requestsWaiting.replace(with: gauge(\.requestsWaiting))
    metrics.brokersConnected.replace(with: gauge(\.brokersConnected))
    metrics.roundTrip.replace(
      with: sums.filter { $0.value.roundTripCount > 0 }.flatMap { label, figures in
        [
          ([label, KafkaMetrics.mean], figures.roundTripSum / figures.roundTripCount),
          ([label, KafkaMetrics.p99], figures.roundTripP99),
        ]
      }, beyond: .maximum)
  }

  /// Takes a document of a client's statistics. One that cannot be read leaves the figures as they are.
  ///
  /// - Returns: The totals to compare the next document with.
  private func take(
    _ json: [UInt8], of number: Int, _ label: String, since last: ClientFigures.Totals
  ) -> ClientFigures.Totals {
    let figures: ClientFigures
    do { figures = try ClientFigures(json: json) } catch {
      metrics.unreadable.add(1, [label])
      return last
    }
    state.withLock { $0.clients[number] = (label, figures, .now) }
    metrics.transmitErrors.add(max(0, figures.totals.transmitErrors - last.transmitErrors), [label])
    metrics.receiveErrors.add(max(0, figures.totals.receiveErrors - last.receiveErrors), [label])
    metrics.requestTimeouts.add(max(0, figures.totals.requestTimeouts - last.requestTimeouts), [label])
    metrics.disconnects.add(max(0, figures.totals.disconnects - last.disconnects), [label])
    return figures.totals
  }

  private func remove(_ number: Int) { state.withLock { $0.clients[number] = nil } }

  /// The receiver of the statistics of one client. Used by the thread that polls the client.
  private final class Receiver {
    private let clients: ClientStatistics
    private let number: Int
    private let label: String
    private var last = ClientFigures.Totals()

    init(clients: ClientStatistics, number: Int, label: String) {
      self.clients = clients
      self.number = number
      self.label = label
    }

    func take(_ json: [UInt8]) { last = clients.take(json, of: number, label, since: last) }

    deinit { clients.remove(number) }
  }
}

extension ClientFigures {
  /// Adds the figures of another client.
  fileprivate mutating func add(_ other: ClientFigures) {
    queuedRecords += other.queuedRecords
    queuedBytes += other.queuedBytes
    requestsWaiting += other.requestsWaiting
    brokersConnected += other.brokersConnected
    roundTripSum += other.roundTripSum
    roundTripCount += other.roundTripCount
    roundTripP99 = max(roundTripP99, other.roundTripP99)
  }
}
