import Domain
import Foundation
import Installation
import KafkaClient
import Pipeline

/// Makes sure that a broker answers before a command relies on it.
enum Broker {
  /// The longest wait for an answer. A healthy broker takes well below a second; a cluster that is restarting, or one
  /// that is far away, takes a few.
  private static let timeout = Duration.seconds(10)
  /// The time before a waiting command says what it waits for, in seconds.
  private static let quietSeconds = 2.0

  /// Asks the brokers for their cluster.
  /// - Parameters:
  ///   - addresses: the addresses, for messages.
  ///   - origin: the place where the addresses were set, for messages.
  ///   - kafka: the properties of the client.
  ///   - saysWait: whether a wait of more than two seconds is told on standard error.
  /// - Returns: the cluster.
  /// - Throws: ``Failure`` when no broker answers in time, `KafkaError` for any other failure.
  static func reach(
    _ addresses: String, from origin: String, _ kafka: KafkaConfiguration, saysWait: Bool = true
  ) throws -> KafkaCluster {
    let answered = StopSignal()
    let waiting = Thread {
      let end = Date().addingTimeInterval(quietSeconds)
      while Date() < end {
        if answered.isAsked { return }
        Thread.sleep(forTimeInterval: 0.05)
      }
      Words.say("rouse: connecting to \(addresses) …")
    }
    if saysWait { waiting.start() }
    defer { answered.ask() }
    do throws(KafkaError) {
      return try KafkaAdmin(kafka).describeCluster(timeout: timeout)
    } catch {
      guard error.isConnection else { throw error }
      throw Failure(
        "no broker answered at \(addresses) within \(timeout.components.seconds) s (\(origin)): \(error.message); "
          + "check the address, kafka.properties and that the broker runs")
    }
  }
}

extension KafkaError {
  /// Whether no broker could be reached, or none answered.
  fileprivate var isConnection: Bool {
    [.timedOut, .transportFailed, .allBrokersDown, .tlsFailed, .authenticationFailed].contains(code)
  }
}

extension Settings {
  /// Returns the way to the cluster, after a broker has answered.
  /// - Parameter saysWait: whether a wait of more than two seconds is told on standard error.
  /// - Throws: what ``pipeline()`` and ``Broker/reach(_:from:_:saysWait:)`` throw.
  func connected(saysWait: Bool = true) throws -> ClusterSettings {
    let settings = try pipeline().cluster
    _ = try cluster(settings, saysWait: saysWait)
    return settings
  }

  /// Returns the cluster, as the broker that has answered sees it.
  /// - Parameters:
  ///   - settings: the way to the cluster.
  ///   - saysWait: whether a wait of more than two seconds is told on standard error.
  /// - Throws: what ``Broker/reach(_:from:_:saysWait:)`` throws.
  func cluster(_ settings: ClusterSettings, saysWait: Bool) throws -> KafkaCluster {
    let key = SettingKey.bootstrapServers
    return try Broker.reach(
      text(key) ?? "", from: "\(key.rawValue): \(self[key].origin)", settings.kafka, saysWait: saysWait)
  }
}
