import KafkaClient
import Logging

/// Logs errors of polls that need no action, equal ones at most every ten seconds: a broker that is away causes hundreds a
/// second. Belongs to one stage's thread.
struct RepeatedErrors {
  private struct Entry {
    var loggedAt: Duration
    /// The equal errors since then.
    var count = 0
  }

  private let clock: any StageClock
  private let logger: Logger
  private var entries: [String: Entry] = [:]
  private static let interval = Duration.seconds(10)
  /// The different errors that are remembered.
  /// - Beyond: all are forgotten, and logged again.
  private static let errorsMax = 100

  /// Makes a log without errors.
  ///
  /// - Parameters:
  ///   - clock: The thread's clock.
  ///   - logger: Gets the errors as warnings.
  init(clock: any StageClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
  }

  /// Logs an error, unless an equal one was logged a moment ago.
  ///
  /// - Parameter error: The error.
  mutating func log(_ error: KafkaError) {
    let text = "\(error)"
    let now = clock.elapsed
    if let entry = entries[text], now - entry.loggedAt < Self.interval {
      entries[text]?.count += 1
      return
    }
    var metadata: Logger.Metadata = ["error": "\(text)"]
    if let count = entries[text]?.count, count > 0 { metadata["repetitions"] = "\(count)" }
    logger.warning("kafka", metadata: metadata)
    if entries.count >= Self.errorsMax { entries.removeAll() }
    entries[text] = Entry(loggedAt: now)
  }
}
