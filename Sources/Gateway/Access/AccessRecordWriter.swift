import Dispatch
public import Domain
import Observing
import Serving
import Synchronization

/// Has access records written off the event loops: those that come while a write runs go into one transaction together. May be used from any
/// thread.
///
///     record ──► waiting (bounded) ──► one write of all that wait ──► each caller goes on, or is refused
final class AccessRecordWriter: Sendable {
  private struct Entry {
    var change: RecordedChange
    var done: @Sendable (Problem?) -> Void
  }

  private struct State {
    var waiting: [Entry] = []
    var isWriting = false
    var isRefusalTurnSet = false
  }

  /// The changes that wait for their record.
  /// - Beyond: a change is refused with 503.
  static let waitingMax = 4096
  /// The time for which refused attempts are collected before they are written.
  private static let refusalsDelay = DispatchTimeInterval.seconds(1)

  private let records: any AccessRecording
  private let metrics: GatewayMetrics
  private let queue = DispatchQueue(label: "rouse.gateway.access")
  private let state = Mutex(State())

  /// Makes a writer.
  ///
  /// - Parameters:
  ///   - records: Takes the records.
  ///   - metrics: Counts them.
  init(_ records: any AccessRecording, _ metrics: GatewayMetrics) {
    self.records = records
    self.metrics = metrics
  }

  /// Records a change before it is made.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - done: Called once, maybe at once: with nil when the record is on the disk, or with the refusal of the change.
  func record(_ change: RecordedChange, _ done: @escaping @Sendable (Problem?) -> Void) {
    enum Turn { case started, waits, full }
    let turn = state.withLock { state -> Turn in
      guard state.waiting.count < Self.waitingMax else { return .full }
      state.waiting.append(Entry(change: change, done: done))
      defer { state.isWriting = true }
      return state.isWriting ? .waits : .started
    }
    switch turn {
    case .waits: break
    case .started: queue.async { [self] in writeAll() }
    case .full:
      metrics.accessRecords.add(1, ["failed"])
      done(Problem(.unavailable, "too many changes wait for their access record; try again", retryAfterSeconds: 1))
    }
  }

  /// Notes an attempt that was refused. It is written about a second later.
  ///
  /// - Parameter attempt: The attempt.
  func note(_ attempt: RefusedAttempt) {
    records.note(attempt)
    setRefusalTurn()
  }

  /// Writes the refused attempts that were noted. Waits for the disk.
  func end() { queue.sync { writeRefusals(isLast: true) } }

  private func setRefusalTurn() {
    let isNew = state.withLock { state in
      defer { state.isRefusalTurnSet = true }
      return !state.isRefusalTurnSet
    }
    if isNew {
      queue.asyncAfter(deadline: .now() + Self.refusalsDelay) { [self] in
        state.withLock { $0.isRefusalTurnSet = false }
        writeRefusals(isLast: false)
      }
    }
  }

  private func writeRefusals(isLast: Bool) {
    do throws(AccessRecordingError) { try records.writeRefusals() } catch {
      metrics.accessRecords.add(1, ["failed"])
      if !isLast { setRefusalTurn() }
    }
  }

  /// Writes what waits until nothing does.
  private func writeAll() {
    while true {
      let entries = state.withLock { state in
        defer { state.waiting = [] }
        if state.waiting.isEmpty { state.isWriting = false }
        return state.waiting
      }
      if entries.isEmpty { return }
      var refusal: Problem?
      do throws(AccessRecordingError) {
        try records.write(entries.map(\.change))
        metrics.accessRecords.add(entries.count, ["written"])
      } catch {
        metrics.accessRecords.add(entries.count, ["failed"])
        refusal = Problem(
          .unavailable, "the change cannot be recorded, so it is not made: \(error.words)", retryAfterSeconds: 5)
      }
      for entry in entries { entry.done(refusal) }
    }
  }
}

/// A change of a device that somebody asked for, as the access records have it.
public struct RecordedChange: Sendable, Equatable {
  /// The wall clock.
  public var at: Timestamp
  /// The id of the key, or the subject of the token; nil if the gateway asks for none.
  public var key: String?
  /// The operation, as in `schemas/openapi.yaml`.
  public var operation: String
  public var device: String
  /// The status code of the answer: 202 in the record that is written before the change, another one if the change then failed.
  public var status: Int
  /// The address of the other end of the connection; nil if it was gone.
  public var client: String?
}

/// An attempt that was refused because of who sent it.
public struct RefusedAttempt: Sendable, Equatable {
  /// The wall clock.
  public var at: Timestamp
  /// The name of the reason, such as `unknownKey`, `missingRole`, `otherApp` or `otherSource`.
  public var cause: String
  /// The id of the key, or the subject of the token; nil if it is not known.
  public var key: String?
  /// The operation, as in `schemas/openapi.yaml`.
  public var operation: String
  /// The status code of the answer.
  public var status: Int
  /// The address of the other end of the connection; nil if it was gone.
  public var client: String?
}

/// The records of who changed a device or was refused, as the gateway writes them.
public protocol AccessRecording: Sendable {
  /// Writes records. They are on the disk when the call returns. Called by one thread at a time, which may wait.
  ///
  /// - Parameter changes: The changes, in their order.
  /// - Throws: `AccessRecordingError` if they cannot be written. None is then.
  func write(_ changes: [RecordedChange]) throws(AccessRecordingError)

  /// Notes an attempt that was refused. Called by any thread, and does not wait.
  ///
  /// - Parameter attempt: The attempt.
  func note(_ attempt: RefusedAttempt)

  /// Writes the attempts that were noted. Called by one thread at a time, which may wait.
  ///
  /// - Throws: `AccessRecordingError` if they cannot be written. They are kept for the next call.
  func writeRefusals() throws(AccessRecordingError)
}

/// The reason why access records cannot be written.
public struct AccessRecordingError: Error, Sendable {
  /// The reason in lower case.
  public var words: String

  /// Makes an error.
  ///
  /// - Parameter words: The reason in lower case.
  public init(_ words: String) { self.words = words }
}
