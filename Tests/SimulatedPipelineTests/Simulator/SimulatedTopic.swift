/// A topic and its partitions.
final class SimulatedTopic {
  let name: String
  let logs: [SimulatedLog]
  /// Whether the broker sets the timestamps.
  let appendTime: Bool

  init(name: String, partitions: Int, appendTime: Bool) {
    self.name = name
    self.appendTime = appendTime
    logs = (0..<partitions).map { _ in SimulatedLog() }
  }
}
