public import Domain

/// What a log record will make its planner look up first. See `Planner.prefetch`.
public struct LookUpHint: Hashable, Sendable {
  /// Hash of the subject as an interest key.
  fileprivate let interest: UInt32
  /// Key of subject and type in `SubjectMemory`.
  fileprivate let subject: UInt64

  private init(type: Span<UInt8>, subject: Span<UInt8>) {
    interest = HashIndex.hash(subject)
    self.subject = SubjectMemory.key(subject: subject, type: type)
  }

  /// Of a record of `rouse.log`; nil for what is no event.
  public init?(logRecord bytes: [UInt8]) {
    guard let places = LogRecord.eventPlaces(in: bytes) else { return nil }
    self.init(type: bytes.span.extracting(places.type), subject: bytes.span.extracting(places.subject))
  }

  public init(_ event: DomainEvent) {
    self.init(type: event.type.utf8.span, subject: event.subject.utf8.span)
  }
}
