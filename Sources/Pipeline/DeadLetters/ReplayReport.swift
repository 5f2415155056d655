/// The outcome of a replay, letter by letter.
public struct ReplayReport: Sendable {
  /// A letter that cannot be given back, or must not be.
  public struct Refusal: Sendable {
    /// The letter.
    public var letter: DeadLetterRecord
    /// A sentence for a person: the reason, and what to do.
    public var why: String
  }

  /// Letters that were given back now.
  public var replayed: [DeadLetterRecord] = []
  /// Letters that an earlier replay had given back; they are not given back again.
  public var replayedBefore: [DeadLetterRecord] = []
  /// Letters that were not given back.
  public var refused: [Refusal] = []
}
