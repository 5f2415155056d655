import Domain
import Planning
import Policies

/// The kind of a record of `rouse.log`.
enum LogRecordKind: Equatable {
  case event, registration, forget, signal, policy, claims, tick

  /// Returns the kind of a decoded record.
  init(_ content: LogRecord.Content) {
    switch content {
    case .event: self = .event
    case .registration: self = .registration
    case .forget: self = .forget
    case .signal: self = .signal
    case .policy: self = .policy
    case .claims: self = .claims
    case .tick: self = .tick
    }
  }
}

/// The outcome of handing a log record to a partition's planner.
enum RecordOutcome: Equatable {
  /// The planner has begun with it; step until the record is done.
  case begun(LogRecordKind)
  /// The record lies before the position and was decided earlier; it was read again after a seek.
  case readAgain
  /// The record repeats the origin of a record that was planned before, and is skipped.
  case repeated
  /// The bytes are not a log record; the record is skipped.
  case unreadable(BinaryError)
  /// The broker refused the output of the record again and again, so the record is not planned. Step until it is done, because
  /// due timers may fire.
  /// - Parameters:
  ///   - treatment: The treatment that the record gets instead.
  ///   - origin: The place of the public record that the log record was made from; nil if it has none.
  case setAside(RecordTreatment, Origin?)
  /// A newer release wrote the record. The position stays before it, so that the upgraded program plans it.
  case newerFormat(BinaryError)
}

/// The outcome of one step of a record.
struct StepOutcome: Equatable {
  /// Whether the record is done.
  var isDone: Bool
  /// The notes for the operator, in order.
  var notes: [PlanningNote] = []
  /// The claims that the planners of the other partitions must hear of before the record is committed.
  var claims: [TokenClaim] = []
}

/// A note for the operator about the planning of a record.
enum PlanningNote: Equatable {
  /// A payload is near or above the platform's limit.
  case largePayload(LargePayload)
  /// Events had more interest keys than are allowed. Noted for the first such event of a planner, the second, the fourth and
  /// so on, because there may be as many as there are events.
  case keysLeftOut(KeysLeftOut)
  /// The event of the record was refused because of the number in a field.
  case inexactNumber(field: Identifier)
  /// A policy record was read.
  /// - Parameters:
  ///   - inForce: The policy in force from here on.
  ///   - refused: The reason why the record's policy was refused; nil if it is the one in force.
  case policy(inForce: PolicyReference, refused: PolicyError?)
}
