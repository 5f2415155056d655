/// How large the body of a push is against what the platform takes. In rising order.
public enum PayloadBand: String, Sendable, CaseIterable, Comparable {
  case safe, watch, risky
  /// Up to the limit: whatever makes it larger next makes it refused.
  case allowed
  /// More than the platform takes: it is not sent.
  case refused

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
  /// Bytes that the body of one push may have.
  public struct PayloadLimit: Equatable, Sendable {
    /// To a device.
    public var limit: Int
    /// To a broadcast channel.
    public var broadcastLimit: Int
    public var provenance: Provenance
    public init(limit: Int, broadcastLimit: Int, provenance: Provenance) {
      self.limit = limit
      self.broadcastLimit = broadcastLimit
      self.provenance = provenance
    }
  }

  /// Below how many bytes a body counts as what, rising; up to the limit it is `allowed`.
  public struct PayloadBands: Equatable, Sendable {
    public var safe: Int
    public var watch: Int
    public var risky: Int
    public var provenance: Provenance
    public init(safe: Int, watch: Int, risky: Int, provenance: Provenance) {
      self.safe = safe
      self.watch = watch
      self.risky = risky
      self.provenance = provenance
    }
  }

  /// Bytes of a body that are the most.
  public func payloadBytesMax(isBroadcast: Bool) -> Int { isBroadcast ? payload.broadcastLimit : payload.limit }

  public func payloadBand(bytes: Int, isBroadcast: Bool) -> PayloadBand {
    if bytes > payloadBytesMax(isBroadcast: isBroadcast) { return .refused }
    if bytes < payloadBands.safe { return .safe }
    if bytes < payloadBands.watch { return .watch }
    return bytes < payloadBands.risky ? .risky : .allowed
  }
}
