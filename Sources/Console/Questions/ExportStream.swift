import Auditing
import Domain
import Logging
import Serving
import Synchronization

/// Rows as a body that is made while it is sent. Each piece is read by the next reader that is free, so an export holds no thread while the
/// client takes its time, and no more than one piece in memory. What a piece is read from can be more: all pushes of a device for a part of its
/// statement, and 250 dead letters with their values. May be used from any thread.
final class ExportStream: Sendable {
  /// Reads the next part on the thread of a reader.
  typealias Reading = @Sendable (ConsoleContext) throws -> ExportPart

  /// A part of an export.
  struct ExportPart {
    /// The bytes; none if nothing was found yet.
    var bytes: [UInt8]
    /// Reads the part behind; nil at the end.
    var next: Reading?
  }

  /// The most exports at a time.
  /// - Beyond: a request is refused with 503.
  static let exportsMax = 8
  /// The parts without rows that one turn of a reader makes. A part of the store looks at about 130,000 numbers of removed records.
  /// - Beyond: the reader answers others first.
  private static let emptyPartsMax = 8

  private struct State {
    /// Reads the next piece; nil at the end.
    var next: Reading?
    var hasEnded = false
  }

  private let readers: StoreReaders
  private let state: Mutex<State>

  /// Begins an export.
  ///
  /// - Parameters:
  ///   - readers: The readers.
  ///   - first: Reads the first part.
  /// - Returns: The body.
  /// - Throws: `Problem` if too many exports are under way.
  static func start(_ readers: StoreReaders, _ first: @escaping Reading) throws(Problem) -> HTTPBodyStream {
    guard readers.exports.add(1, ordering: .relaxed).newValue <= exportsMax else {
      readers.exports.subtract(1, ordering: .relaxed)
      throw Problem(
        .unavailable, "\(exportsMax) exports are under way; try again when one has ended", retryAfterSeconds: 10)
    }
    let export = ExportStream(readers, first)
    return HTTPBodyStream(next: { export.next($0) }, cancel: { export.end() })
  }

  private init(_ readers: StoreReaders, _ first: @escaping Reading) {
    self.readers = readers
    state = Mutex(State(next: first))
  }

  private func end() {
    let isFirst = state.withLock { state in
      defer { state.hasEnded = true }
      return !state.hasEnded
    }
    if isFirst { readers.exports.subtract(1, ordering: .relaxed) }
  }

  private func next(_ give: @escaping @Sendable (HTTPBodyStream.Piece) -> Void) {
    let isTaken = readers.resume { [self] context in
      let piece = piece(context)
      if case .bytes = piece {} else { end() }
      give(piece)
    }
    guard !isTaken else { return }
    end()
    give(.broken)
  }

  private func piece(_ context: ConsoleContext) -> HTTPBodyStream.Piece {
    do {
      for _ in 0..<Self.emptyPartsMax {
        guard let read = state.withLock(\.next) else { return .end }
        let part = try read(context)
        state.withLock { $0.next = part.next }
        if !part.bytes.isEmpty { return .bytes(part.bytes) }
      }
      return .bytes([])
    } catch {
      context.logger.warning("an export was broken off", metadata: ["error": "\(error)"])
      return .broken
    }
  }
}
