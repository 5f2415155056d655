/// The allowance of one commit for the oldest chunks of a `ChunkLog`: how many bytes of what lives in them it writes anew, how many
/// entries it passes over that do not live, and how many chunks it removes. `ChunkLog` gives the reasons for the figures.
struct ChunkAllowance {
  /// The number of the first chunk of this commit. It and the later ones stay.
  private let begun: Int64
  private let spareBytes: Int
  private var moves: Int
  private var passes: Int
  private var removals: Int

  /// The bytes of entries that do not live that each commit may pass over. They take less than half a millisecond.
  private static let passedMin = 256 << 10
  /// The number of chunks that each commit may remove, in addition to two for each chunk that it writes.
  private static let removedMin = 64

  /// Makes the allowance of a commit that has written what changed.
  /// - Parameters:
  ///   - begun: The number of the first chunk of this commit.
  ///   - log: The chunks, including those of this commit.
  ///   - bytes: The size of what this commit has written.
  ///   - shrunk: The number of bytes by which the size of what lives has lessened since the allowance of the last commit.
  ///   - spareBytes: The size by which all chunks may exceed 2.25 times the size of what lives.
  init<Owner>(
    begun: Int64, _ log: borrowing ChunkLog<Owner>, bytes: Int, shrunk: Int, spareBytes: Int
  ) {
    self.begun = begun
    self.spareBytes = spareBytes
    moves = 4 * bytes + 10 * shrunk
    passes = 16 * (bytes + shrunk) + Self.passedMin
    removals = 2 * Int(log.next - begun + 1) + Self.removedMin
  }

  /// Removes the oldest chunks as far as all of their entries were passed.
  /// - Parameter log: The chunks.
  /// - Returns: The oldest entry, to be moved or passed; nil when this commit must leave it where it is.
  mutating func oldest<Owner>(_ log: inout ChunkLog<Owner>) -> ChunkLog<Owner>.Entry? {
    while removals > 0, log.removeFirst(before: begun) { removals -= 1 }
    // With a chunk left to remove, the oldest entry is not one of the oldest chunk.
    return removals > 0 && log.first < begun ? log.entry(0) : nil
  }

  /// Returns whether the oldest entry, which lives, is to be written anew.
  /// - Parameters:
  ///   - log: The chunks.
  ///   - writer: The writer of this commit.
  func moves<Owner>(_ log: borrowing ChunkLog<Owner>, _ writer: borrowing ChunkWriter) -> Bool {
    moves > 0 && log.bytes + writer.openBytes > log.liveBytes * 9 / 4 + spareBytes
  }

  /// Notes that an entry was written anew.
  /// - Parameter bytes: The number of bytes that were written.
  mutating func note(moved bytes: Int) { moves -= bytes }

  /// Returns whether the oldest entry, which does not live, is to be passed.
  /// - Parameter entryBytes: The size of the entry, rounded down.
  mutating func passes(_ entryBytes: Int) -> Bool {
    // An entry takes a few bytes at least.
    passes -= entryBytes + 16
    return passes > 0
  }
}
