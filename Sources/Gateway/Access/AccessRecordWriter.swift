import Dispatch
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
