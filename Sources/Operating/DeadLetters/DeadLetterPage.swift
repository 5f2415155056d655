/// A part of the list of dead letters, the newest first.
public struct DeadLetterPage: Sendable {
  /// The letters.
  public var letters: [DeadLetterRecord] = []
  /// The place at which the list goes on; nil if there are no older letters.
  public var next: DeadLetterCursor?
}

/// A place in the list of dead letters: the offset in each partition before which the older letters are. A partition without older letters is
/// left out.
public struct DeadLetterCursor: Sendable, Equatable {
  /// The offsets, by the number of the partition.
  public var tops: [Int32: Int64]

  /// Makes a place.
  ///
  /// - Parameter tops: The offsets, by the number of the partition.
  public init(tops: [Int32: Int64]) { self.tops = tops }
}
