import Domain
import Installation
import KafkaClient
import Pipeline

/// Publishes events of a load as a data team would: as CloudEvents in the public topic.
final class EventSender {
  private let load: FleetLoad
  private let topic: String
  private let producer: KafkaProducer

  /// - Throws: `KafkaError` when the producer cannot be created.
  init(stage: BenchmarkStage, load: FleetLoad) throws(KafkaError) {
    self.load = load
    topic = stage.settings.eventTopics[0]
    producer = try KafkaProducer(
      stage.broker.kafka.merging([
        // librdkafka busy-waits for the last millisecond of a linger, so with 1 ms the sender alone would occupy a core.
        "enable.idempotence": "true", "linger.ms": "5", "compression.type": "lz4", "partitioner": "murmur2_random",
      ]))
  }

  /// Sends an event of the load.
  /// - Parameters:
  ///   - number: the event's place in the load.
  ///   - due: the moment when it was to be sent, in seconds of ``MonotonicClock``; its id then carries the moment. Nil
  ///     leaves the event out of the measurement.
  /// - Throws: `KafkaError` when librdkafka's queue is full or the client has failed.
  func send(_ number: Int, due: Double?) throws(KafkaError) {
    let event = load.event(number, id: due.map { "\(CommandReader.mark)\(Int($0 * 1e6))-\(number)" })
    var json =
      #"{"specversion":"1.0","id":"\#(event.id)","source":"\#(event.source)","type":"\#(event.type)","subject":"\#(event.subject)","#
      + #""time":"\#(event.time)","data":{"#
    for (place, field) in event.fields.enumerated() {
      guard case .number(let number) = field.value else { continue }
      json += #"\#(place > 0 ? "," : "")"\#(field.path.text.dropFirst("data.".count))":\#(number)"#
    }
    json += "}}"
    try producer.send(topic: topic, key: Array(event.subject.utf8), value: Array(json.utf8))
  }

  /// Serves librdkafka's delivery reports.
  func poll() throws(KafkaError) { try producer.poll() }

  /// Waits until the broker has every event.
  /// - Throws: ``BenchmarkError`` after 60 seconds, `KafkaError` for an event that the broker refused.
  func deliver() throws {
    guard try producer.flush(timeout: .seconds(60)) else {
      throw BenchmarkError("the broker did not take the benchmark's events within 60 s")
    }
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
  }
}
