/// A body that is made while it is sent, piece by piece. The connection asks for the next piece when the client has taken the one before,
/// so that a slow client holds one piece in memory and no thread.
public struct HTTPBodyStream: Sendable {
  /// A part of a body.
  public enum Piece: Sendable {
    /// The next bytes. Without bytes, the connection asks again.
    case bytes([UInt8])
    /// The body is complete.
    case end
    /// The body cannot be completed. The connection is closed without the mark of a complete body, so that the client sees that a part is
    /// missing.
    case broken
  }

  /// Asks for the next piece.
  let next: @Sendable (@escaping @Sendable (Piece) -> Void) -> Void
  /// Ends a body that nobody takes. May be called on any thread before the first piece is asked for.
  public let cancel: @Sendable () -> Void

  /// Makes a body.
  ///
  /// - Parameters:
  ///   - next: Called on an event loop, one call at a time; it must not block. It passes on one piece, at any time and on any thread. The
  ///     connection waits for it without a limit of its own.
  ///   - cancel: Called at most once on an event loop if the client does not take the whole body. No further piece is asked for.
  public init(
    next: @escaping @Sendable (@escaping @Sendable (Piece) -> Void) -> Void, cancel: @escaping @Sendable () -> Void
  ) {
    self.next = next
    self.cancel = cancel
  }
}
