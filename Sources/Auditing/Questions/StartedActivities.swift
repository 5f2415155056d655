public import Domain

/// The Live Activities that pushes started, and the zombies among them: the starts for which the device never registered an
/// activity, which therefore no push can update or end.
public struct StartedActivities: Equatable, Sendable {
  /// A push that started an activity which the device never registered.
  public struct UnregisteredStart: Equatable, Sendable {
    /// The device that was to start the activity.
    public var device: Identifier
    /// The subject that the activity was to show.
    public var subject: Identifier
    /// The kind of the activity.
    public var kind: Identifier
    /// The log time of the push that started the activity.
    public var since: Timestamp
    /// The id of the command that started the activity.
    public var command: Identifier
    /// The number of decisions about the kind on the device within eight hours after the start, which is as long as an
    /// activity can run. A registered activity would have shown these events.
    public var decisionsSince: Int
  }

  /// The place behind a start in the order of a list, which has the newest first.
  public struct StartPlace: Equatable, Sendable {
    /// The log time of the start.
    public var at: Timestamp
    /// The number of its push in the store.
    public var number: Int64

    /// Creates a place.
    public init(at: Timestamp, number: Int64) {
      self.at = at
      self.number = number
    }
  }

  /// The range of log time whose starts were examined.
  public var range: TimeRange
  /// The number of starts in the range.
  public var starts: Int
  /// The number of starts in the range that are older than those that were examined, because of a limit.
  public var omitted: Int
  /// The number of starts in the last half hour of the store. They are not reported as zombies, because the device may
  /// still register their activities.
  public var tooNew: Int
  /// The starts whose activity the device never registered (zombies), oldest first.
  public var zombies: [UnregisteredStart]
  /// The place behind the oldest start that was examined, if older ones follow; nil if none does.
  public var next: StartPlace?

  /// The time after which a device is no longer expected to register an activity. Usually it takes seconds.
  static let registersWithin = TimeSpan.minutes(30)
  /// The time after which the system ends an activity.
  static let life = TimeSpan.hours(8)
}
