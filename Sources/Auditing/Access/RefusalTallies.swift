public import Domain
import Synchronization

/// The attempts that were refused, until they are written to the access records. May be used from any thread.
///
/// Attempts of one cause, key, operation and client within a minute are one record with their number. So somebody who tries keys as fast as
/// they can makes one record a minute, and many clients at a time at most `groupsMax` and one more for each cause.
public final class RefusalTallies: Sendable {
  /// The properties that the attempts of a record have in common.
  private struct Group: Hashable {
    var cause: String
    var key: String?
    var operation: String
    var status: Int
    var client: String?
  }

  private struct Tally {
    var first: Timestamp
    var last: Timestamp
    var count = 0
    /// The number of attempts in the record; 0 while there is none.
    var writtenCount = 0
    /// The number of the record; nil while there is none.
    var record: Int64?
  }

  /// The most groups at a time.
  /// - Beyond: further attempts count together, by cause alone.
  public static let groupsMax = 200
  /// The time from the first attempt of a group until another record is begun.
  private static let span = TimeSpan.minutes(1)
  /// The most characters that are kept of a name.
  private static let nameMax = 256

  private let tallies = Mutex<[Group: Tally]>([:])

  /// Begins without any.
  public init() {}

  /// Notes an attempt that was refused.
  ///
  /// - Parameters:
  ///   - cause: The name of the reason.
  ///   - key: The id of the key; nil if it is not known.
  ///   - operation: The name of the route.
  ///   - status: The status of the answer.
  ///   - client: The address of the other end; nil if it is gone.
  ///   - now: The wall clock.
  public func note(
    _ cause: String, key: String?, operation: String, status: Int, client: String?, at now: Timestamp
  ) {
    let group = Group(
      cause: cause, key: key.map { String($0.prefix(Self.nameMax)) }, operation: operation, status: status,
      client: client.map { String($0.prefix(Self.nameMax)) })
    tallies.withLock { tallies in
      // A tally that has been written and is a minute old gets no more refusals.
      if let tally = tallies[group], now >= tally.first + Self.span, tally.count == tally.writtenCount {
        tallies[group] = nil
      }
      let hasRoom = tallies[group] != nil || tallies.count < Self.groupsMax
      let place = hasRoom ? group : Group(cause: cause, key: nil, operation: "other", status: status, client: nil)
      var tally = tallies[place] ?? Tally(first: now, last: now)
      tally.count += 1
      tally.last = max(tally.last, now)
      tallies[place] = tally
    }
  }

  /// Hands over the records that are new or have grown. If they cannot be written, they are handed over again the next time.
  ///
  /// - Parameters:
  ///   - now: The wall clock.
  ///   - write: Writes records, and returns the number of each.
  /// - Throws: what `write` throws.
  public func flush<Failure: Error>(
    at now: Timestamp, _ write: ([RefusedAccess]) throws(Failure) -> [Int64]
  ) throws(Failure) {
    let grown = tallies.withLock { tallies in
      tallies.filter { $0.value.count > $0.value.writtenCount }.sorted { $0.value.first < $1.value.first }
    }
    let numbers = try grown.isEmpty ? [] : write(grown.map { Self.refusal($0.key, $0.value) })
    tallies.withLock { tallies in
      for ((group, tally), number) in zip(grown, numbers) {
        tallies[group]?.record = number
        tallies[group]?.writtenCount = tally.count
      }
      // An attempt that came meanwhile stays for the next time.
      tallies = tallies.filter { now < $0.value.first + Self.span || $0.value.count > $0.value.writtenCount }
    }
  }

  private static func refusal(_ group: Group, _ tally: Tally) -> RefusedAccess {
    var record = AccessRecord(
      at: tally.last, key: group.key.map { Identifier($0) }, operation: Identifier(group.operation),
      status: group.status, client: group.client.map { Identifier($0) })
    record.refused = Identifier(group.cause)
    record.count = tally.count
    return RefusedAccess(record: record, number: tally.record)
  }
}
