/// The size of a push's body, compared with what the platform accepts. The bands are listed in rising order.
public enum PayloadBand: String, Sendable, CaseIterable, Comparable {
  case safe, watch, risky
  /// Just below the limit: a little more would be refused.
  case allowed
  /// Larger than the platform accepts. The push is not sent.
  case refused

  /// Whether the first band is the smaller one.
  public static func < (a: PayloadBand, b: PayloadBand) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .safe: 0
    case .watch: 1
    case .risky: 2
    case .allowed: 3
    case .refused: 4
    }
  }
}

extension BudgetProfile {
  /// The largest number of bytes that the body of one push may have.
  public struct PayloadLimit: Equatable, Sendable {
    /// The limit for a push to a device, in bytes.
    public var limit: Int
    /// The limit for a push to a broadcast channel, in bytes.
    public var broadcastLimit: Int
    /// The source of the numbers.
    public var provenance: Provenance

    /// Creates a limit. Nothing is checked.
    public init(limit: Int, broadcastLimit: Int, provenance: Provenance) {
      self.limit = limit
      self.broadcastLimit = broadcastLimit
      self.provenance = provenance
    }
  }

  /// The sizes in bytes that separate the bands, in rising order. From `risky` up to the limit a body is `allowed`.
  public struct PayloadBands: Equatable, Sendable {
    /// A body with fewer bytes is `safe`.
    public var safe: Int
    /// A body with fewer bytes, but not safe, is in the band `watch`.
    public var watch: Int
    /// A body with fewer bytes, but not in the band `watch`, is `risky`.
    public var risky: Int
    /// The source of the numbers.
    public var provenance: Provenance

    /// Creates the bounds. Nothing is checked.
    public init(safe: Int, watch: Int, risky: Int, provenance: Provenance) {
      self.safe = safe
      self.watch = watch
      self.risky = risky
      self.provenance = provenance
    }
  }

  /// Returns the largest body, in bytes, of a push to a device or to a channel.
  public func payloadBytesMax(isBroadcast: Bool) -> Int { isBroadcast ? payload.broadcastLimit : payload.limit }

  /// Returns the band of a body.
  /// - Parameters:
  ///   - bytes: the size of the body.
  ///   - isBroadcast: whether the push goes to a channel.
  public func payloadBand(bytes: Int, isBroadcast: Bool) -> PayloadBand {
    if bytes > payloadBytesMax(isBroadcast: isBroadcast) { return .refused }
    if bytes < payloadBands.safe { return .safe }
    if bytes < payloadBands.watch { return .watch }
    return bytes < payloadBands.risky ? .risky : .allowed
  }
}
