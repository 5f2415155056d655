import Logging
import Pipeline
import Synchronization

/// Collects what the planners log about restored partitions.
final class RestoreLog: Sendable {
  /// One restored partition.
  struct Restored {
    /// The number of records read from the state topic.
    var fromTopic: Int
    /// The number of records read from a snapshot.
    var fromSnapshot: Int
    /// The number of devices in the partition after the restore.
    var devices: Int
    /// The duration of the restore.
    var seconds: Double
    /// The end of the restore, in seconds of ``MonotonicClock``.
    var endSeconds: Double
  }

  private let lines = Mutex<[Restored]>([])

  /// The partitions restored so far.
  var restored: [Restored] { lines.withLock { $0 } }

  /// Adds a partition.
  func add(_ line: Restored) { lines.withLock { $0.append(line) } }
}

/// Passes the log line "partition restored" to a ``RestoreLog``, and prints errors to standard error.
struct RestoreLogHandler: LogHandler {
  let log: RestoreLog
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]
  private var console = PrintableLogHandler.standardError(label: "rouse")

  init(log: RestoreLog) { self.log = log }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    if event.level > .warning { console.log(event: event) }
    func number(_ key: String) -> Int? { event.metadata?[key].flatMap { Int("\($0)") } }
    guard event.message.description == "partition restored", let topic = number("fromTopic"),
      let snapshot = number("fromSnapshot"), let devices = number("devices"), let milliseconds = number("milliseconds")
    else { return }
    log.add(
      RestoreLog.Restored(
        fromTopic: topic, fromSnapshot: snapshot, devices: devices, seconds: Double(milliseconds) / 1000,
        endSeconds: MonotonicClock.seconds()))
  }
}
