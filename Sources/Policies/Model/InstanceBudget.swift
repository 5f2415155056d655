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

    /// The time before the end of a local day at which the reserve begins to shrink, as a share of 24 hours.
    @inlinable public static var releaseBegins: Double { 0.15 }
    /// The time before the end of a local day at which the reserve is gone, as a share of 24 hours. It is half an hour, so
    /// that the last token in reserve can still be spent.
    @inlinable public static var releaseEnds: Double { 0.02 }

    /// Returns the tokens that are kept. The reserve is whole for most of a local day and then shrinks evenly. A part of a token
    /// counts as a whole one.
    /// - Parameters:
    ///   - tokens: The tokens of the whole reserve: the share times the tokens of the day.
    ///   - end: The time until the local day ends.
    @inlinable
    public static func kept(of tokens: Double, before end: TimeSpan) -> Int {
      let left = Double(end.microseconds) / Double(TimeSpan.hours(24).microseconds)
      let share = (left - releaseEnds) / (releaseBegins - releaseEnds)
      return Int((tokens * min(1, max(0, share))).rounded(.up))
    }
  }

  /// The tokens of the whole reserve, with a part of a token; 0 if there is none.
  public var reserveTokens: Double { (reserve?.share ?? 0) * Double(perDay) }
}
