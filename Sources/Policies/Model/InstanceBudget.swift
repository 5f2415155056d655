public import Domain

/// The reloads that one instance may spend.
public struct InstanceBudget: Equatable, Sendable {
  /// The reloads in a window, 1…200.
  public var perDay: Int
  /// The least time between two reloads.
  public var minInterval: TimeSpan
  /// The window in which reloads are counted.
  public var window: Window
  /// The tokens that are kept for the most relevant events; nil: none.
  public var reserve: Reserve?

  /// Creates a budget. Nothing is checked. By default the day begins at 04:00 local time.
  public init(
    perDay: Int, minInterval: TimeSpan, window: Window = .localDay(anchorMinute: 240), reserve: Reserve? = nil
  ) {
    self.perDay = perDay
    self.minInterval = minInterval
    self.window = window
    self.reserve = reserve
  }

  /// The window in which reloads are counted.
  public enum Window: Equatable, Sendable {
    /// A day of the device's time zone that begins this many minutes after local midnight.
    case localDay(anchorMinute: Int)
    /// The last 24 hours before each reload, whatever the local time.
    case rolling
  }

  /// Tokens that are kept for the most relevant events.
  public struct Reserve: Equatable, Sendable {
    /// The share of `perDay` that is kept, 0…1.
    public var share: Double
    /// The relevance at or above which an event may use the reserve, 0…1.
    public var aboveRelevance: Double

    /// Creates a reserve. Nothing is checked.
    public init(share: Double, aboveRelevance: Double) {
      self.share = share
      self.aboveRelevance = aboveRelevance
    }
  }
}
