import Foundation
package import Histogram
import Synchronization

/// The load of a gateway: connections that publish events as fast as they are answered, or at a rate.
///
/// At a rate the load is open-loop: each request is due by the clock, and its latency counts from that moment. So a stall shows in
/// every request that it delayed.
package struct GatewayLoad: Sendable {
  /// The port of the gateway on this host.
  package var port: Int
  /// The number of connections, each with a thread.
  package var connections: Int
  /// The number of events of a request; 1 sends them in structured mode, more as batches.
  package var batch: Int
  /// The time to measure, after the warm-up.
  package var seconds: Int
  /// The events a second over all connections; nil for as many as are answered.
  package var rate: Double?

  /// The figures of a run.
  package struct Result: Sendable {
    /// The number of events that were acknowledged.
    package var events = 0
    /// The number of requests that were answered with anything but 202.
    package var refused = 0
    /// The latencies of requests, in microseconds.
    package var latencies = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
  }

  /// The time at the start that is not measured, in seconds.
  package static let warmUpSeconds = 1.0

  /// Describes a load.
  package init(port: Int, connections: Int, batch: Int, seconds: Int, rate: Double?) {
    self.port = port
    self.connections = connections
    self.batch = batch
    self.seconds = seconds
    self.rate = rate
  }

  /// Runs the load.
  /// - Throws: ``BenchmarkError`` when a connection ends.
  package func run() throws -> Result {
    let total = Sum()
    let start = MonotonicClock.seconds() + 0.2
    let threads = (0..<connections).map { number in
      let thread = BenchmarkThread(name: "load-\(number)")
      thread.start { try work(number, from: start, total) }
      return thread
    }
    for thread in threads { try thread.end() }
    return total.result.withLock(\.self)
  }

  private final class Sum: Sendable {
    let result = Mutex(Result())
  }

  private func work(_ number: Int, from start: Double, _ total: Sum) throws {
    let connection = try LoadConnection(port: port)
    let (measuredFrom, end) = (start + Self.warmUpSeconds, start + Self.warmUpSeconds + Double(seconds))
    let period = rate.map { Double(batch * connections) / $0 }
    var (mine, count) = (Result(), 0)
    while true {
      let request = request(number, count)
      var due = MonotonicClock.seconds()
      if let period {
        due = start + (Double(count) + Double(number) / Double(connections)) * period
        while MonotonicClock.seconds() < due {
          Thread.sleep(forTimeInterval: max(0.0001, due - MonotonicClock.seconds()))
        }
      }
      guard due < end else { break }
      let status = try connection.ask(request)
      count += 1
      guard due >= measuredFrom else { continue }
      if status == 202 { mine.events += batch } else { mine.refused += 1 }
      mine.latencies.record(UInt64(max(0, MonotonicClock.seconds() - due) * 1e6))
    }
    total.result.withLock { result in
      result.events += mine.events
      result.refused += mine.refused
      result.latencies.add(mine.latencies)
    }
  }

  private func request(_ number: Int, _ count: Int) -> [UInt8] {
    let events = (0..<batch).map { event in
      #"{"specversion":"1.0","id":"\#(number)-\#(count)-\#(event)","source":"/bench","type":"flight.delay.changed","subject":"flight/UA\#((count + event) % 1000)","time":"2026-11-22T12:00:00Z","data":{"delayMinutes":\#(count % 90),"status":"late","origin":"EWR"}}"#
    }
    let body = batch == 1 ? events[0] : "[\(events.joined(separator: ","))]"
    let type = batch == 1 ? "cloudevents" : "cloudevents-batch"
    return Array(
      "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/\(type)+json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        .utf8)
  }
}
