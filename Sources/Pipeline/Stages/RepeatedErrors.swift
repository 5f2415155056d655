import KafkaClient
import Logging

/// Logs what may happen hundreds of times a second, equal things at most every ten seconds: errors of polls while a broker is
/// away, and records that no release writes. Belongs to one stage's thread.
struct RepeatedErrors {
  private struct Entry {
    var loggedAt: Duration
    /// The equal things since then.
    var count = 0
  }

  private let clock: any StageClock
  private let logger: Logger
  private var entries: [String: Entry] = [:]
  private static let interval = Duration.seconds(10)
  /// The different things that are remembered.
  /// - Beyond: all are forgotten, and logged again.
  private static let thingsMax = 100

  /// Makes a log without errors.
  ///
  /// - Parameters:
  ///   - clock: The thread's clock.
  ///   - logger: Gets the lines.
  init(clock: any StageClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
  }

  /// Logs an error of a poll that needs no action as a warning, unless an equal one was logged a moment ago.
  ///
  /// - Parameter error: The error.
  mutating func log(_ error: KafkaError) {
    log("kafka", level: .warning, thing: "\(error)", metadata: ["error": "\(error)"])
  }

  /// Logs a line, unless one about an equal thing was logged a moment ago. The line has the number of those between as
  /// `repetitions`.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - level: The level.
  ///   - thing: The thing that the line is about.
  ///   - metadata: The metadata of the line.
  mutating func log(
    _ message: Logger.Message, level: Logger.Level, thing: String, metadata: @autoclosure () -> Logger.Metadata
  ) {
    let now = clock.elapsed
    if let entry = entries[thing], now - entry.loggedAt < Self.interval {
      entries[thing]?.count += 1
      return
    }
    var metadata = metadata()
    if let count = entries[thing]?.count, count > 0 { metadata["repetitions"] = "\(count)" }
    logger.log(level: level, message, metadata: metadata)
    if entries.count >= Self.thingsMax { entries.removeAll() }
    entries[thing] = Entry(loggedAt: now)
  }
}
