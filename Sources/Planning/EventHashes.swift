public import Domain

/// The hashes by which a planner looks up the event of a log record. Who plans several records in a row makes them ahead of time: then
/// `Planner.prefetch` loads table entries by them, and `Planner.begin` takes them, so that no text is hashed again. Otherwise the planner
/// makes them itself.
public struct EventHashes: Sendable {
  /// The hash of the subject.
  let subject: SipHash
  /// The key of the subject and the type in `SubjectMemory`.
  let entry: KeyedHash
  /// The hash of the subject in the table of interest keys.
  let interest: UInt32
  /// A number that is equal for equal types, and hardly ever for others. Only `prefetch` uses it.
  let type: UInt64

  /// Hashes the event in a record of `rouse.log`; nil for a record that is not an event or is corrupt.
  /// - Parameters:
  ///   - bytes: The value of the record.
  ///   - key: The planner's hash key.
  public init?(logRecord bytes: [UInt8], key: HashKey) {
    guard let places = LogRecord.eventPlaces(in: bytes) else { return nil }
    let (subject, type) = (bytes.span.extracting(places.subject), bytes.span.extracting(places.type))
    var hash = SipHash(key: key)
    hash.add(utf8: subject)
    self.subject = hash
    entry = SubjectMemory.key(subject: hash, type: type)
    interest = HashIndex.hash(subject)
    self.type = Self.number(ofType: type)
  }

  // It passes on texts, not their spans: see `HashIndex.hash`.

  /// Hashes an event.
  /// - Parameters:
  ///   - event: The event.
  ///   - key: The planner's hash key.
  public init(_ event: DomainEvent, key: HashKey) {
    var hash = SipHash(key: key)
    hash.add(utf8: event.subject.utf8.span)
    subject = hash
    entry = SubjectMemory.key(subject: hash, type: event.type)
    interest = HashIndex.hash(event.subject)
    type = Self.number(ofType: event.type)
  }

  /// Returns the number of an event type in `EventHashes.type`.
  static func number(ofType type: Identifier) -> UInt64 { number(ofType: type.utf8.span) }

  @inline(__always)
  private static func number(ofType type: Span<UInt8>) -> UInt64 {
    var number: UInt64 = 0
    type.forEachWord { number = (number ^ $0) &* 0x9e37_79b9_7f4a_7c15 }
    return number
  }
}
