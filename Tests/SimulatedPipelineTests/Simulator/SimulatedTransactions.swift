import KafkaClient

/// The coordinator's state of a transactional id.
final class SimulatedTransactions {
  let id: String
  let producer: Int64
  var epoch: Int32 = 0
  var timeout: Int64 = 0
  /// The time when the open transaction began, in µs; nil when none is open.
  var openSince: Int64?
  var partitions: [KafkaTopicPartition] = []
  var groups: [String] = []
  var timeOuts = 0

  init(id: String, producer: Int64) {
    self.id = id
    self.producer = producer
  }

  /// The identity of one producer of the id.
  struct Session {
    var id: String
    var producer: Int64
    var epoch: Int32
  }
}
