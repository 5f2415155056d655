import DeviceView
import Domain
import Foundation
import Gateway
import Installation
import KafkaClient
import Logging
import Observing
import Pipeline

/// The view of devices that a process keeps up to date: a gateway for its own answers and for a console on the same machine, or a console
/// for itself. A process keeps at most one, because the metrics of a process are those of one view.
struct DevicesView {
  private let store: DeviceStore
  private let pipeline: PipelineSettings
  private let group: String
  private let logger: Logger

  /// Opens the file, or makes it.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - key: The setting that names it, for the error.
  ///   - group: The `group.id` of the consumers, which only names them: nothing is committed.
  ///   - pipeline: The settings of the pipeline.
  ///   - logger: Gets what happens.
  /// - Throws: `Failure` if the file cannot be used.
  init(_ path: String, _ key: SettingKey, group: String, _ pipeline: PipelineSettings, _ logger: Logger) throws {
    do throws(DeviceStoreError) { store = try DeviceStore(path: path, topic: pipeline.topics.devices) } catch {
      throw Failure("\(key.rawValue): \(error)")
    }
    self.group = group
    self.pipeline = pipeline
    self.logger = logger
  }

  /// The view, as a gateway looks into it.
  var devices: ViewedDevices { ViewedDevices(store: store) }

  /// Starts the threads that keep the file up to date. A full disk makes the view old, and stops nothing else.
  ///
  /// - Parameters:
  ///   - runner: Runs the threads.
  ///   - counters: Gets the metrics.
  ///   - isOnlyShown: Whether the view is only shown to people. Then nothing that Kafka refuses ends the process: it is logged, and tried again.
  ///   - isWanted: Whether to go on. Asked several times a second, by both threads.
  func keep(
    on runner: RoleRunner, _ counters: PipelineCounters, isOnlyShown: Bool,
    while isWanted: @escaping @Sendable () -> Bool
  ) {
    let (store, topics, logger) = (store, pipeline.topics, logger)
    let metrics = DeviceViewMetrics(counters.registry)
    counters.registry.collect { metrics.set(age: store.age(at: Date())) }
    let kafka = pipeline.kafka.merging(["group.id": group])
    runner.start("view-devices") { () throws(PipelineError) in
      let feed = DeviceFeed(store, topic: topics.devices, kafka: kafka, metrics: metrics, logger: logger)
      try Self.run(logger, topics.devices, isOnlyShown: isOnlyShown) { () throws(DeviceFeed.FeedError) in
        try feed.run(while: isWanted)
      }
    }
    // Looks are only shown, by a gateway's view, too.
    runner.start("view-signals") { () throws(PipelineError) in
      let feed = SignalFeed(store, topic: topics.signals, kafka: kafka, metrics: metrics, logger: logger)
      try Self.run(logger, topics.signals, isOnlyShown: true) { () throws(DeviceFeed.FeedError) in
        try feed.run(while: isWanted)
      }
    }
  }

  /// Runs a feed of the view. What the file refuses is logged, and tried again by the next feed; so is what Kafka refuses, for a view that is
  /// only shown.
  private static func run(
    _ logger: Logger, _ topic: String, isOnlyShown: Bool, _ feed: () throws(DeviceFeed.FeedError) -> Void
  ) throws(PipelineError) {
    do throws(DeviceFeed.FeedError) { try feed() } catch {
      switch error {
      case .kafka(let error) where isOnlyShown && error.code.refusesPrincipal:
        logger.warning(
          "a topic may not be read, so pages of devices do not show what is in it; rouse topics acls prints what is missing",
          metadata: ["topic": "\(topic)", "error": "\(error)"])
      case .kafka(let error) where isOnlyShown && !error.isRetriable:
        logger.warning(
          "a topic cannot be read, so pages of devices do not show what is in it; it is tried again",
          metadata: ["topic": "\(topic)", "error": "\(error)"])
      case .kafka(let error): throw .kafka(error)
      case .store(let error):
        logger.warning(
          "the view of devices cannot be written, so it becomes old; it is tried again", metadata: ["error": "\(error)"]
        )
      }
    }
  }
}

/// The view of the registrations, as the gateway looks into it.
struct ViewedDevices: RegisteredDevices {
  /// The view.
  let store: DeviceStore

  var ageSeconds: Int? { store.age(at: Date()) }

  func find(_ device: String) throws(RegisteredDevicesError) -> RegisteredDevice? {
    do throws(DeviceStoreError) {
      return try store.find(device).map { RegisteredDevice(app: $0.app, value: $0.value) }
    } catch {
      throw RegisteredDevicesError("\(error)")
    }
  }
}
