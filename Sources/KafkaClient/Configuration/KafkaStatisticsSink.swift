/// Receives librdkafka's statistics of one client as a JSON document, every `statistics.interval.ms`, on the thread that polls the
/// client, while it polls. Its members are described in librdkafka's `STATISTICS.md`.
public typealias KafkaStatisticsSink = ([UInt8]) -> Void
