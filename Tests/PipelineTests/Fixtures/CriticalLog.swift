import Logging
import Synchronization

/// Keeps the critical lines of a logger.
final class CriticalLog: Sendable {
  private let kept = Mutex<[String]>([])

  /// The lines: the message, then the metadata in the order of its keys.
  var lines: [String] { kept.withLock { $0 } }
  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: CriticalLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.critical

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let words = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      log.kept.withLock { $0.append("\(event.message) \(words.joined(separator: " "))") }
    }
  }
}
