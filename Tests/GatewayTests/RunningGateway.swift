import Domain
import Foundation
import HTTPTesting
import JSON
import KafkaClient
import Keys
import Logging
import Observing
import Serving
import Synchronization
import Testing

@testable import Gateway

/// An embedded broker that several threads use.
final class SharedBroker: Sendable {
  private let broker: Mutex<EmbeddedBroker>

  init(_ broker: sending EmbeddedBroker) { self.broker = Mutex(broker) }

  func set(isUp: Bool) throws {
    try broker.withLock { if isUp { try $0.setBrokerUp() } else { try $0.setBrokerDown() } }
  }
}

/// A gateway on an embedded broker, with its producer's thread.
final class RunningGateway: Sendable {
  static let topics = GatewayTopics(events: "events", devices: "rouse.devices", signals: "rouse.signals")
  static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  let bootstrap: String
  let server: GatewayServer
  let registry: MetricRegistry
  private let ended = DispatchSemaphore(value: 0)

  private init(_ bootstrap: String, _ server: GatewayServer, _ registry: MetricRegistry) {
    self.bootstrap = bootstrap
    self.server = server
    self.registry = registry
  }

  /// Runs a body, on a thread of its own, against a gateway.
  ///
  /// - Parameters:
  ///   - keys: The key file; nil for no keys.
  ///   - rate: The records that each key may send a second.
  ///   - tokens: The tokens that are taken; nil for none.
  ///   - devices: The registrations in force; nil if the gateway does not know them.
  ///   - records: Takes the access records; nil for none.
  ///   - runsProducer: Whether the producer runs.
  ///   - change: Changes the settings.
  ///   - body: Gets the gateway and its broker.
  static func run(
    keys: KeyFile? = nil, rate: Int? = nil, tokens: TokenVerifier? = nil, devices: (any RegisteredDevices)? = nil,
    records: (any AccessRecording)? = nil, runsProducer: Bool = true,
    _ change: (inout GatewaySettings) -> Void = { _ in },
    _ body: @escaping @Sendable (RunningGateway, SharedBroker) throws -> Void
  ) async throws {
    try await ServerTurns.shared.run {
      var settings = GatewaySettings(listen: HTTPAddress(host: "127.0.0.1", port: 0), topics: topics)
      settings.limits.threads = 2
      change(&settings)
      let embedded = try EmbeddedBroker()
      for topic in [topics.events, topics.devices, topics.signals] { try embedded.createTopic(topic, partitions: 3) }
      let bootstrap = embedded.bootstrapServers
      let broker = SharedBroker(embedded)
      let ring = try keys.map { file in
        let path = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString).json").path
        try file.write(to: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try KeyRing(path: path, recordsPerSecond: rate, logger: silent)
      }
      let access =
        ring == nil && tokens == nil ? nil : Authenticator(keys: ring, tokens: tokens, recordsPerSecond: rate)
      let registry = MetricRegistry()
      let server = try await GatewayServer.start(
        settings, kafka: ["bootstrap.servers": bootstrap], access: access, devices: devices, records: records,
        registry: registry, logger: silent)
      let gateway = RunningGateway(bootstrap, server, registry)
      let isRunning = DispatchSemaphore(value: 0)
      if runsProducer {
        Thread {
          do throws(KafkaError) { try server.runProducer { isRunning.signal() } } catch { Issue.record("\(error)") }
          gateway.ended.signal()
        }.start()
      }
      let outcome = try await onThread {
        if runsProducer {
          // The second turn: the producer takes requests since the first.
          isRunning.wait()
          gateway.awaitProducer()
        }
        return Result { try body(gateway, broker) }
      }
      await server.stop()
      if runsProducer { try await onThread { gateway.ended.wait() } }
      try outcome.get()
    }
  }

  /// Waits until the producer takes requests.
  private func awaitProducer() {
    while (try? client().ask("DELETE", "/v1/devices/awaited"))?.status == 503 {}
  }

  func client() throws -> TestClient { try TestClient(server.address) }

  /// The records of a topic, except those with which the test awaited the producer.
  func records(_ topic: String, count: Int) throws -> [KafkaMessage] {
    let consumer = try KafkaConsumer([
      "bootstrap.servers": bootstrap, "group.id": "readers", "fetch.wait.max.ms": "20", "enable.auto.commit": "false",
    ])
    try consumer.assign(
      Dictionary(
        uniqueKeysWithValues: (0..<3).map { (KafkaTopicPartition(topic: topic, partition: $0), KafkaOffset.beginning) })
    )
    var messages: [KafkaMessage] = []
    let end = ContinuousClock.now + .seconds(150)
    while messages.count < count, ContinuousClock.now < end {
      messages += try consumer.poll(maxMessages: 500, timeout: .milliseconds(50)).messages
        .filter { $0.key != Array("awaited".utf8) }
    }
    consumer.close()
    return messages
  }
}

/// An event as JSON.
func eventJSON(
  _ id: String, source: String = "/flights", type: String = "flight.delay.changed", subject: String? = nil,
  more: String = ""
)
  -> String
{
  #"{"specversion":"1.0","id":"\#(id)","source":"\#(source)","type":"\#(type)","subject":"\#(subject ?? "flight/\(id)")"\#(more)}"#
}

let structured = ("Content-Type", "application/cloudevents+json")
let batched = ("Content-Type", "application/cloudevents-batch+json")
let json = ("Content-Type", "application/json")

/// A registration as JSON.
func registrationJSON(_ device: String, app: String = "com.example.glance") -> String {
  """
  {"device":"\(device)","app":"\(app)","environment":"production","platform":"iOS","osVersion":"26.1",
  "timeZone":"Europe/Rome","updatedAt":"2026-11-22T12:00:00Z"}
  """
}

/// A signal as JSON.
func signalJSON(_ id: String, device: String) -> String {
  #"{"specversion":"1.0","id":"\#(id)","source":"/app","type":"rouse.signal.app.foregrounded","data":{"device":"\#(device)"}}"#
}
