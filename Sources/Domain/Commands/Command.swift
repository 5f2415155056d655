/// One push to one device, ready for APNs: what to send, what it serves and what it was charged.
public struct Command: Equatable, Sendable {
  /// `c-<partition>-<offset>-<ordinal>` of the log record that led to it; the same on every re-run.
  public var command: String
  public var device: String
  public var app: String
  public var environment: Registration.Environment
  public var surface: Surface
  public var serves: [Served]
  public var charged: [Charge]
  public var apns: APNs
  public var at: Timestamp
  /// When sending it is no longer worth while.
  public var expires: Timestamp
  public var policy: PolicyReference
  public var traceparent: String?
  /// What the activity is about that the push starts; nil for every other push.
  public var subject: String?

  public init(
    command: String, device: String, app: String, environment: Registration.Environment, surface: Surface,
    serves: [Served], charged: [Charge], apns: APNs, at: Timestamp, expires: Timestamp, policy: PolicyReference,
    traceparent: String? = nil, subject: String? = nil
  ) {
    self.command = command
    self.device = device
    self.app = app
    self.environment = environment
    self.surface = surface
    self.serves = serves
    self.charged = charged
    self.apns = apns
    self.at = at
    self.expires = expires
    self.policy = policy
    self.traceparent = traceparent
    self.subject = subject
  }

  /// One instance that the push reloads, and the events it thereby shows.
  public struct Served: Equatable, Sendable {
    public var instance: String
    public var kind: String
    public var events: [String]
    public var reason: Reason
    public init(instance: String, kind: String, events: [String], reason: Reason) {
      self.instance = instance
      self.kind = kind
      self.events = events
      self.reason = reason
    }
  }

  /// One token taken from one ledger.
  public struct Charge: Equatable, Sendable {
    public var ledger: Ledger
    /// Instance id, device id or app id.
    public var owner: String
    /// Tokens left after the charge.
    public var left: Int
    public init(ledger: Ledger, owner: String, left: Int) {
      self.ledger = ledger
      self.owner = owner
      self.left = left
    }
  }

  /// The names of the ledgers as they stand on commands.
  public enum Ledger: String, Sendable, CaseIterable {
    case instance, device, background, control, activity, start, app
  }

  /// The request for APNs.
  public struct APNs: Equatable, Sendable {
    public var address: Address
    /// Sorted by name.
    public var headers: [Header]
    /// JSON text of the body, at most 4,096 bytes.
    public var payload: String
    public init(address: Address, headers: [Header], payload: String) {
      self.address = address
      self.headers = headers
      self.payload = payload
    }
    public enum Address: Equatable, Sendable { case token(String), channel(String) }
  }

  /// One APNs request header.
  public struct Header: Equatable, Sendable {
    public var name: String
    public var value: String
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }
}
