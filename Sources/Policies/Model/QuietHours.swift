/// The hours of the device's day in which only relevant events are pushed.
public struct QuietHours: Equatable, Sendable {
  /// The start, in minutes after local midnight, 0..<1440. If it is later than the end, the quiet hours span midnight.
  public var fromMinute: Int
  /// The end, in minutes after local midnight, 0..<1440.
  public var toMinute: Int
  /// The relevance at or above which an event is pushed all the same. Above 1 there is no exception.
  public var exceptRelevance: Double

  /// Creates quiet hours. Nothing is checked.
  public init(fromMinute: Int, toMinute: Int, exceptRelevance: Double) {
    self.fromMinute = fromMinute
    self.toMinute = toMinute
    self.exceptRelevance = exceptRelevance
  }
}
