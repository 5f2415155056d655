/// One push to one device or channel: the request for APNs, the instances that it serves and the tokens that it was charged.
public struct Command: Equatable, Sendable {
  /// The id: `c-<partition>-<offset>-<ordinal>` of the log record that led to the command. A second run over the same log
  /// gives the same id.
  public var command: Identifier
  /// The id of the device; for a push to a broadcast channel, the id `channel/…` that stands for the channel.
  public var device: Identifier
  /// The bundle id of the app.
  public var app: Identifier
  /// The APNs environment of the token.
  public var environment: Registration.Environment
  /// The surface that the push updates.
  public var surface: Surface
  /// The instances that the push updates.
  public var serves: [Served]
  /// The tokens that the push was charged, one for each ledger.
  public var charged: [Charge]
  /// The request for APNs.
  public var apns: APNs
  /// The log time of the command.
  public var at: Timestamp
  /// The instant after which the push is no longer worth sending.
  public var expires: Timestamp
  /// The policy that was in force.
  public var policy: PolicyReference
  /// The W3C trace context of the event that caused the command.
  public var traceparent: String?
  /// The subject of the Live Activity that the push starts; nil for every other push.
  public var subject: Identifier?

  /// Creates a command from its parts. Nothing is checked.
  public init(
    command: Identifier, device: Identifier, app: Identifier, environment: Registration.Environment, surface: Surface,
    serves: [Served], charged: [Charge], apns: APNs, at: Timestamp, expires: Timestamp, policy: PolicyReference,
    traceparent: String? = nil, subject: Identifier? = nil
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

  /// One instance that a push updates, and the events that it then shows.
  public struct Served: Equatable, Sendable {
    /// The id of the instance.
    public var instance: Identifier
    /// The kind of the instance.
    public var kind: Identifier
    /// The ids of the events that the instance shows after the push, oldest first: the newest ones that fit into
    /// `DomainBounds.servedEventBytesMax`. Each event has a decision that names the command, whether it is listed or not.
    public var events: [Identifier]
    /// The number of older events that the instance shows, too, and that `events` leaves out.
    public var eventsLeftOut: Int
    /// The reason that the decisions about these events have.
    public var reason: Reason

    /// Creates an entry of `serves`.
    public init(instance: Identifier, kind: Identifier, events: [Identifier], eventsLeftOut: Int = 0, reason: Reason) {
      self.instance = instance
      self.kind = kind
      self.events = events
      self.eventsLeftOut = eventsLeftOut
      self.reason = reason
    }
  }

  /// One token that was taken from one ledger.
  public struct Charge: Equatable, Sendable {
    /// The ledger.
    public var ledger: Ledger
    /// The id of the instance, device or app that the ledger belongs to (`Ledger.owner`).
    public var owner: Identifier
    /// The tokens left after the charge.
    public var left: Int

    /// Creates an entry of `charged`.
    public init(ledger: Ledger, owner: Identifier, left: Int) {
      self.ledger = ledger
      self.owner = owner
      self.left = left
    }
  }

  /// The request for APNs.
  public struct APNs: Equatable, Sendable {
    /// The token or channel that the push goes to.
    public var address: PushTarget
    /// The request headers, sorted by name.
    public var headers: [Header]
    /// The body: one JSON object as text. The budget profile bounds it: for APNs, 4,096 bytes to a token and 5,120 to a
    /// channel.
    public var payload: String

    /// Creates a request. Nothing is checked.
    public init(address: PushTarget, headers: [Header], payload: String) {
      self.address = address
      self.headers = headers
      self.payload = payload
    }
  }

  /// One APNs request header.
  public struct Header: Equatable, Sendable {
    /// The name in lower case, such as `apns-topic`.
    public var name: Identifier
    /// The value.
    public var value: String

    /// Creates a header.
    public init(name: Identifier, value: String) {
      self.name = name
      self.value = value
    }
  }
}
