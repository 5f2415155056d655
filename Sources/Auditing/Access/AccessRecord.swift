public import Domain

/// The record of a change, of a look at the history of devices, or of attempts that were refused, by somebody who came over HTTP.
public struct AccessRecord: Equatable, Sendable {
  /// The time of the answer, by the wall clock; of refused attempts, that of the last one.
  public var at: Timestamp
  /// The id of the key; nil if the console asks for none.
  public var key: Identifier?
  /// The operation, as in `schemas/openapi.yaml`, or the name of a page.
  public var operation: Identifier
  /// The device that the request names; nil if it names none.
  public var device: Identifier?
  /// The event that the request names; nil if it names none.
  public var event: Identifier?
  /// The other thing that the request is about: a decision, a command, a dead letter, a policy; nil if there is none.
  public var subject: Identifier?
  /// The status code of the answer.
  public var status: Int
  /// The address of the other end of the connection; nil if it was gone.
  public var client: Identifier?
  /// The reason why the attempts were refused, as a name such as `unknownKey`; nil for a request that was let in.
  public var refused: Identifier?
  /// The number of attempts; 1 for a request that was let in.
  public var count = 1

  /// Creates a record.
  public init(
    at: Timestamp, key: Identifier?, operation: Identifier, device: Identifier? = nil, event: Identifier? = nil,
    subject: Identifier? = nil, status: Int, client: Identifier?
  ) {
    self.at = at
    self.key = key
    self.operation = operation
    self.device = device
    self.event = event
    self.subject = subject
    self.status = status
    self.client = client
  }
}

/// Attempts of a minute that were refused for the same reason.
public struct RefusedAccess: Equatable, Sendable {
  public var record: AccessRecord
  /// The number of the record in the store; nil if it is new.
  public var number: Int64?

  /// Creates a refusal.
  public init(record: AccessRecord, number: Int64?) {
    self.record = record
    self.number = number
  }
}

/// A place in the list of access records, which has two orders: that of the requests that were let in, and that of refused attempts.
public struct AccessPlace: Equatable, Sendable {
  /// The number of the last request that was let in.
  public var access: Int64
  /// The number of the last record of refused attempts.
  public var refusal: Int64

  /// Creates a place.
  public init(access: Int64, refusal: Int64) {
    self.access = access
    self.refusal = refusal
  }
}

/// The properties that the access records of a list must have. A property that is nil excludes none.
public struct AccessFilter: Equatable, Sendable {
  /// The id of the key.
  public var key: Identifier?
  public var operation: Identifier?
  public var device: Identifier?
  public var event: Identifier?
  /// The range of time.
  public var range = TimeRange.all
  /// Whether to list refused attempts alone, or requests that were let in alone; nil for both.
  public var isRefused: Bool?

  /// Creates a filter that excludes nothing.
  public init() {}
}
