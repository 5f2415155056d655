/// A device's claim to push tokens that its newest registration gave it. The planners of the other log partitions take the tokens away
/// from devices whose registrations are older.
public struct TokenClaim: Equatable, Sendable {
  /// The device that holds the tokens.
  public var device: Identifier
  /// The bundle id of the app.
  public var app: Identifier
  /// The APNs environment of the tokens.
  public var environment: Registration.Environment
  /// The time of the device's registration, at most the log time at which it was planned.
  public var updatedAt: Timestamp
  /// The tokens, in lower case.
  public var tokens: [Identifier]

  /// Creates a claim.
  public init(
    device: Identifier, app: Identifier, environment: Registration.Environment, updatedAt: Timestamp,
    tokens: [Identifier]
  ) {
    self.device = device
    self.app = app
    self.environment = environment
    self.updatedAt = updatedAt
    self.tokens = tokens
  }

  /// The largest number of claims in one log record.
  /// - Beyond: the rest goes into another record.
  public static let perRecordMax = 256
}

extension TokenClaim: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: TokenClaim {
    TokenClaim(
      device: "", app: "", environment: .production, updatedAt: Timestamp(microseconds: 0), tokens: [])
  }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&device, "a device")
    try coder.recurring(&app, "an app")
    try coder.code(&environment, "an environment")
    try coder.timestamp(&updatedAt, "a registration's time")
    try coder.strings(&tokens, "a token")
  }
}
