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

  /// Returns the hash of the subject.
  /// - Parameter key: The planner's hash key.
  func subject(_ key: HashKey) -> SipHash {
    var hash = SipHash(key: key)
    switch names {
    case .texts(let subject, _): hash.add(utf8: subject.utf8.span)
    case .places(let bytes, let subject, _): hash.add(utf8: bytes.span.extracting(subject))
    }
    return hash
  }

  /// Returns the key of the subject and type in `SubjectMemory`.
  /// - Parameter subject: The hash of the subject.
  func entry(_ subject: SipHash) -> KeyedHash {
    switch names {
    case .texts(_, let type): SubjectMemory.key(subject: subject, type: type)
    case .places(let bytes, _, let type): SubjectMemory.key(subject: subject, type: bytes.span.extracting(type))
    }
  }

  /// Returns whether the event is of a type.
  func isOf(type: Identifier) -> Bool {
    switch names {
    case .texts(_, let own): return own == type
    case .places(let bytes, _, let own):
      let text = type.utf8.span
      if own.count != text.count { return false }
      for place in text.indices where text[place] != bytes[own.lowerBound + place] { return false }
      return true
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
