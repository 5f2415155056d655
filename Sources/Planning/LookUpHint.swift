public import Domain

/// The keys by which a planner will begin its look-ups for the event in a log record. `Planner.prefetch` uses them to load table
/// entries ahead of time.
public struct LookUpHint: Sendable {
  private let names: Names

  /// The names of the subject and of the type.
  private enum Names {
    case texts(subject: Identifier, type: Identifier)
    case places([UInt8], subject: Range<Int>, type: Range<Int>)
  }

  /// Creates the hint of a record of `rouse.log`; nil for a record that is not an event or is corrupt.
  /// - Parameter bytes: The value of the record.
  public init?(logRecord bytes: [UInt8]) {
    guard let places = LogRecord.eventPlaces(in: bytes) else { return nil }
    names = .places(bytes, subject: places.subject, type: places.type)
  }

  /// Creates the hint of an event.
  public init(_ event: DomainEvent) { names = .texts(subject: event.subject, type: event.type) }

  /// Returns the key of the subject and type in `SubjectMemory`.
  /// - Parameter key: The planner's hash key.
  func subject(_ key: HashKey) -> KeyedHash {
    var hash = SipHash(key: key)
    switch names {
    case .texts(let subject, let type):
      hash.add(utf8: subject.utf8.span)
      return SubjectMemory.key(subject: hash, type: type)
    case .places(let bytes, let subject, let type):
      hash.add(utf8: bytes.span.extracting(subject))
      return SubjectMemory.key(subject: hash, type: bytes.span.extracting(type))
    }
  }

  /// The hash by which the event's subject is looked up among the interest keys. It is needed only where the subject memory does not
  /// know the key.
  var interest: UInt32 {
    switch names {
    case .texts(let subject, _): HashIndex.hash(subject)
    case .places(let bytes, let subject, _): HashIndex.hash(bytes.span.extracting(subject))
    }
  }
}
