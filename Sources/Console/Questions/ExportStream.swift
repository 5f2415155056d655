import Auditing
import Logging
import Serving
import Synchronization

/// The records of the store as a body that is made while it is sent. Each piece is read by the next reader that is free, so an export holds no
/// thread while the client takes its time. May be used from any thread.
final class ExportStream: Sendable {
  /// The most exports at a time.
  /// - Beyond: a request is refused with 503.
  static let exportsMax = 8
  /// The steps without records that one turn of a reader makes. A step looks at about 130,000 numbers of removed records.
  /// - Beyond: the reader answers others first.
  private static let emptyStepsMax = 8

  private struct State {
    /// The place at which the next piece begins; nil at the end.
    var from: Int64? = 0
    var hasBegun = false
    var hasEnded = false
  }

  private let range: TimeRange
  private let form: AnswerForm
  private let readers: StoreReaders
  private let state = Mutex(State())

  /// Begins an export.
  ///
  /// - Parameters:
  ///   - range: The range of log time.
  ///   - form: Lines of JSON, or CSV.
  ///   - readers: The readers.
  /// - Returns: The body.
  /// - Throws: `Problem` if too many exports are under way.
  static func start(_ range: TimeRange, _ form: AnswerForm, _ readers: StoreReaders) throws(Problem) -> HTTPBodyStream {
    guard readers.exports.add(1, ordering: .relaxed).newValue <= exportsMax else {
      readers.exports.subtract(1, ordering: .relaxed)
      throw Problem(
        .unavailable, "\(exportsMax) exports are under way; try again when one has ended", retryAfterSeconds: 10)
    }
    let export = ExportStream(range, form, readers)
    return HTTPBodyStream(next: { export.next($0) }, cancel: { export.end() })
  }

  private init(_ range: TimeRange, _ form: AnswerForm, _ readers: StoreReaders) {
    self.range = range
    self.form = form
    self.readers = readers
  }

  private func end() {
    let isFirst = state.withLock { state in
      defer { state.hasEnded = true }
      return !state.hasEnded
    }
    if isFirst { readers.exports.subtract(1, ordering: .relaxed) }
  }

  private func next(_ give: @escaping @Sendable (HTTPBodyStream.Piece) -> Void) {
    let isTaken = readers.resume { [self] desk in
      let piece = piece(desk)
      if case .bytes = piece {} else { end() }
      give(piece)
    }
    guard !isTaken else { return }
    end()
    give(.broken)
  }

  private func piece(_ desk: ConsoleDesk) -> HTTPBodyStream.Piece {
    let (position, isFirst) = state.withLock { state in
      defer { state.hasBegun = true }
      return (state.from, !state.hasBegun)
    }
    var bytes = isFirst && form == .csv ? AnswerTable([AuditEntry]()).csvHeader : []
    guard var from = position else { return .end }
    do {
      for _ in 0..<Self.emptyStepsMax {
        let step = try desk.store().exportStep(range, from: from)
        state.withLock { $0.from = step.next }
        bytes += form == .csv ? AnswerTable(step.entries).csvRows : QuestionAnswer.lines(step.entries)
        guard let next = step.next else { return bytes.isEmpty ? .end : .bytes(bytes) }
        if !bytes.isEmpty { break }
        from = next
      }
      return .bytes(bytes)
    } catch {
      desk.logger.warning("an export was broken off", metadata: ["error": "\(error)"])
      return .broken
    }
  }
}
