import Installation
import KafkaClient
import Logging

/// Logs things that may happen hundreds of times a second, each at most once every ten seconds: errors of polls while a
/// broker is away, and records that no release writes. Belongs to one stage's thread.
struct RepeatedErrors {
  private struct Entry {
    var loggedAt: Duration
    /// The number of equal things since then, which were not logged.
    var count = 0
  }

  private let clock: any StageClock
  private let logger: Logger
  private var entries: [String: Entry] = [:]
  private static let interval = Duration.seconds(10)
  /// The number of different errors, or partitions with bad records, for which a stage remembers when it last logged
  /// them.
  /// - Beyond: all are forgotten, so each is logged when it happens again.
  private static let thingsMax = 100

  /// Makes a log that remembers nothing yet.
  ///
  /// - Parameters:
  ///   - clock: The thread's clock.
  ///   - logger: Gets the lines.
  init(clock: any StageClock, logger: Logger) {
    self.clock = clock
    self.logger = logger
  }

  /// Logs an error of a poll that needs no action as a warning, unless an equal one was logged within the last ten
  /// seconds.
  ///
  /// - Parameter error: The error.
  mutating func log(_ error: KafkaError) {
    log("kafka", level: .warning, thing: "\(error)", metadata: ["error": "\(error)"])
  }

  /// Logs an incident, unless one about an equal thing was logged within the last ten seconds. Its metadata
  /// `repetitions` is the number of lines that were left out since.
  ///
  /// - Parameters:
  ///   - incident: The incident.
  ///   - thing: The text that identifies the thing: an error, or a partition. Equal texts are equal things.
  ///   - metadata: The metadata of the line.
  mutating func report(_ incident: Incident, thing: String, metadata: @autoclosure () -> Logger.Metadata) {
    log(incident.message, level: incident.level, thing: thing, metadata: incident.marking(metadata()))
  }

  /// Logs a line, unless one about an equal thing was logged within the last ten seconds. Its metadata `repetitions` is
  /// the number of lines that were left out since.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - level: The level.
  ///   - thing: The text that identifies the thing: an error, or a partition. Equal texts are equal things.
  ///   - metadata: The metadata of the line.
  private mutating func log(
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
