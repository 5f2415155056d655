import Installation
import KafkaClient
import Serving

/// Calls of the cluster on behalf of a request.
enum ClusterCall {
  /// The longest wait for a broker to answer at all.
  /// - Beyond: the request is answered with 503.
  private static let answerTimeMax = Duration.seconds(4)

  /// Runs a call, if a broker answers and a topic exists.
  ///
  /// - Parameters:
  ///   - settings: The cluster.
  ///   - topic: The topic that the call needs.
  ///   - failure: The words for a call that failed.
  ///   - body: The call.
  /// - Throws: `Problem` that says what to do.
  static func run<Value>(
    _ settings: ClusterSettings, needing topic: String, failure: String = "Kafka did not do it",
    _ body: () throws -> Value
  ) throws -> Value {
    do {
      // Asked first, because the calls themselves wait much longer for brokers that are away.
      _ = try KafkaAdmin(settings.kafka).describeTopics([topic], timeout: answerTimeMax)
      return try body()
    } catch let error as KafkaError {
      let advice =
        error.code == .topicAuthorizationFailed || error.code == .groupAuthorizationFailed
        ? "rouse topics acls --role console lists the permissions that it needs"
        : "check kafka.bootstrapServers, and that the brokers run"
      throw Problem(
        .unavailable,
        "\(failure): \(error.operation) failed: \(error.message) (\(error.code.name)); \(advice)",
        retryAfterSeconds: 5)
    }
  }
}
