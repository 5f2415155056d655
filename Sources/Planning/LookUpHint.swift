public import Domain

/// The hashes that a planner will look up first for the event in a log record. `Planner.prefetch` uses them to load table entries
/// ahead of time.
public struct LookUpHint: Hashable, Sendable {
  /// The hash by which the event's subject is looked up among the interest keys.
  let interest: UInt32
  /// The key of the subject and type in `SubjectMemory`.
  let subject: UInt64

  private init(type: Span<UInt8>, subject: Span<UInt8>) {
    interest = HashIndex.hash(subject)
    self.subject = SubjectMemory.key(subject: subject, type: type)
  }

  /// Creates the hint of a record of `rouse.log`; nil for a record that is not an event or is corrupt.
  /// - Parameter bytes: The value of the record.
  public init?(logRecord bytes: [UInt8]) {
    guard let places = LogRecord.eventPlaces(in: bytes) else { return nil }
    self.init(type: bytes.span.extracting(places.type), subject: bytes.span.extracting(places.subject))
  }

  /// Creates the hint of an event.
  public init(_ event: DomainEvent) {
    self.init(type: event.type.utf8.span, subject: event.subject.utf8.span)
  }
}
