import Foundation
import KafkaClient
import Pipeline

/// Whether a broker answers, before a command relies on it.
enum Broker {
  /// Longest wait for an answer. A broker that is there takes well below a second; a cluster that is being restarted, or
  /// one that is far away, a few.
  private static let patience = Duration.seconds(10)
  /// Nothing is said before.
  private static let quietSeconds = 2.0

  /// Asks the brokers for their topics; after two seconds says what it waits for.
  /// - Parameter origin: where the addresses were set.
  static func reach(_ addresses: String, from origin: String, _ kafka: KafkaConfiguration) throws {
    let answered = StopSignal()
    let waiting = Thread {
      let end = Date().addingTimeInterval(quietSeconds)
      while Date() < end {
        if answered.isAsked { return }
        Thread.sleep(forTimeInterval: 0.05)
      }
      Words.say("rouse: connecting to \(addresses) …")
    }
    waiting.start()
    defer { answered.ask() }
    do throws(KafkaError) {
      _ = try KafkaAdmin(kafka).describeCluster(timeout: patience)
    } catch {
      guard error.isConnection else { throw error }
      throw Failure(
        "no broker answered at \(addresses) within \(patience.components.seconds) s (\(origin)): \(error.message); "
          + "check the address, kafka.properties and that the broker runs")
    }
  }
}

extension KafkaError {
  /// Whether nobody answered, or nobody could be asked.
  fileprivate var isConnection: Bool { [.timedOut, .transportFailed, .allBrokersDown].contains(code) }
}

extension Settings {
  /// What the pipeline needs to know, once a broker has answered.
  func connected() throws -> PipelineSettings {
    let pipeline = try pipeline()
    let origin = values.first { $0.key.name == "kafka.bootstrapServers" }?.origin ?? ""
    try Broker.reach(text("kafka.bootstrapServers") ?? "", from: "kafka.bootstrapServers: \(origin)", pipeline.kafka)
    return pipeline
  }
}
