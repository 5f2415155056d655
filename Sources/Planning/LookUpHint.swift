public import Domain

/// The keys by which a planner will begin its look-ups for the event in a log record. `Planner.prefetch` uses them to load table
/// entries ahead of time.
public struct LookUpHint: Sendable {
  /// The key of the subject and type in `SubjectMemory`.
  let subject: UInt64
  private let name: Name

  /// The name of the subject. It is hashed for the interest keys only where the subject memory does not know the key.
  private enum Name {
    case text(Identifier)
    case bytes([UInt8], Range<Int>)
  }

  /// Creates the hint of a record of `rouse.log`; nil for a record that is not an event or is corrupt.
  /// - Parameter bytes: The value of the record.
  public init?(logRecord bytes: [UInt8]) {
    guard let places = LogRecord.eventPlaces(in: bytes) else { return nil }
    let span = bytes.span
    subject = SubjectMemory.key(subject: span.extracting(places.subject), type: span.extracting(places.type))
    name = .bytes(bytes, places.subject)
  }

  /// Creates the hint of an event.
  public init(_ event: DomainEvent) {
    subject = SubjectMemory.key(subject: event.subject.utf8.span, type: event.type.utf8.span)
    name = .text(event.subject)
  }

  /// The hash by which the event's subject is looked up among the interest keys.
  var interest: UInt32 {
    switch name {
    case .text(let text): HashIndex.hash(text.utf8.span)
    case .bytes(let bytes, let place): HashIndex.hash(bytes.span.extracting(place))
    }
  }
}
