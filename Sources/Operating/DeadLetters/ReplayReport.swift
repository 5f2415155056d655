/// The outcome of a replay, letter by letter.
public struct ReplayReport: Sendable {
  /// A letter that cannot be replayed, or must not be.
  public struct Refusal: Sendable {
    /// The letter.
    public var letter: DeadLetterRecord
    /// A sentence for a person: the reason, and what to do.
    public var why: String
  }

  /// Letters that were replayed now.
  public var replayed: [DeadLetterRecord] = []
  /// Letters of an earlier replay; they are not replayed again.
  public var replayedBefore: [DeadLetterRecord] = []
  /// Letters that were not replayed.
  public var refused: [Refusal] = []

  /// Begins without letters.
  public init() {}
}
