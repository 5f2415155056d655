public import Logging

/// The conditions that are logged as `critical` or `error`: data is lost, work has stopped, or an operator must act.
///
/// A line of these levels is logged with one of these cases only, so that each has an entry on the page about observability. The
/// line has the message of the case, which never changes with the values, and the raw value of the case as its metadata
/// `incident`. Alarms may rely on the raw value.
public enum Incident: String, CaseIterable, Sendable {
  // The order is that of the page: the process, then the stages in the order of the data.

  /// `rouse run` ends with an error.
  case runFailed
  /// A stage ended with an error that trying again does not mend.
  case stageGaveUp
  /// A stage ended with an error and is started again.
  case stageRestarts
  /// A batch of records cannot be unpacked, and its partition is not read on.
  case batchUnreadable
  /// A batch of the state cannot be unpacked.
  case stateBatchUnreadable
  /// Records were passed over by order of an operator.
  case recordsSkipped
  /// The broker refuses a dead letter in every form.
  case deadLetterRefused
  /// A policy record of the log cannot be used.
  case policyRefused
  /// A record of the log cannot be decoded.
  case logRecordUnreadable
  /// A partition stays before a record of the log.
  case logRecordStops
  /// A partition is not planned because of a record of its state that an operator can leave out.
  case stateRecordStops
  /// A partition is not planned because of a record of its state that cannot be left out.
  case statePositionStops
  /// The broker refuses the output of a log record again and again.
  case outputRefused
  /// Retention removed records of the log before they were planned.
  case logRecordsMissing
  /// The audit has given up, and the other roles of its process go on.
  case auditGaveUp
  /// The audit store does not take records in.
  case auditStoreRefuses
  /// The audit store could not remove old decisions.
  case auditHousekeepingFailed
  /// The audit store refuses one record for its content.
  case auditRecordRefused
  /// A record of decisions or commands is not as a release writes it.
  case auditRecordUnreadable
  /// Retention removed records before the audit had stored them.
  case auditRecordsMissing

  /// The level of the line: `critical` where data is lost or work stands still until a person acts, else `error`.
  public var level: Logger.Level {
    switch self {
    case .runFailed, .stageGaveUp, .batchUnreadable, .stateBatchUnreadable, .recordsSkipped, .deadLetterRefused,
      .logRecordStops, .stateRecordStops, .statePositionStops, .outputRefused, .logRecordsMissing,
      .auditGaveUp, .auditRecordRefused, .auditRecordUnreadable, .auditRecordsMissing:
      .critical
    case .stageRestarts, .policyRefused, .logRecordUnreadable, .auditStoreRefuses, .auditHousekeepingFailed: .error
    }
  }

  /// The message of the line. It names the next step where a few words are enough.
  package var message: Logger.Message { "\(texts.message)" }

  /// The cause, in sentences for an operator.
  package var meaning: String { texts.meaning }

  /// The data or the work that is lost, in sentences for an operator.
  package var loss: String { texts.loss }

  /// The steps that an operator should take, in sentences.
  package var advice: String { texts.advice }
}

extension Logger {
  /// Logs a condition with its level and message.
  ///
  /// - Parameters:
  ///   - incident: The condition. Its raw value becomes the metadata `incident`.
  ///   - metadata: The values of this occurrence.
  public func report(_ incident: Incident, metadata: @autoclosure () -> Metadata) {
    log(level: incident.level, incident.message, metadata: incident.marking(metadata()))
  }
}

extension Incident {
  /// Returns metadata with the raw value as `incident`.
  func marking(_ metadata: Logger.Metadata) -> Logger.Metadata {
    metadata.merging(["incident": "\(rawValue)"]) { $1 }
  }
}
