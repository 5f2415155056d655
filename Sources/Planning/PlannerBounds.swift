/// Every bound of a planner, with its reason.
public struct PlannerBounds: Sendable {
  /// Pending causes kept per instance; the oldest ends as `SUPERSEDED` when one more arrives. 32 is more than a screen
  /// can show and keeps a device's state record below 4 KB.
  public var causesPerInstanceMax = 32
  /// Subjects whose newest event is remembered, per generation (two are kept). 140 bytes each, with 16 events 260; and as
  /// much for each kind that displays something of them.
  public var subjectsPerGenerationMax = 500_000
  /// Bytes of one state record with notes about subjects, about: brokers take 1 MB.
  public var noteChunkBytesMax = 64 * 1024
  /// Bytes that such records may take beside twice what is remembered, before what is oldest is written anew: a small
  /// memory need not be.
  public var noteSpareBytes = 1024 * 1024
  /// An app that never said `backgrounded` counts as such after this time: the signal may be lost, and no app stays in
  /// the foreground that long unattended. µs
  public var foregroundMax: Int64 = 2 * 3600 * 1_000_000
  /// A command is worth sending for this long, the end of an activity longer. µs
  public var commandLifetime: Int64 = 15 * 60 * 1_000_000

  /// Removed instances of one device whose ledgers are kept until their day is over. More than a device can charge in that
  /// time by any profile's push rate; beyond it the one that ends first is let go.
  public var retiredPerDeviceMax = 1000
  /// Subjects that one push-to-start token is known to have started, or that broadcasts tell the device of; beyond it the
  /// one noted first is forgotten, and may be started again. Far more than a person follows in half a day, and a record of
  /// less than 300 KB.
  public var startsPerTokenMax = 1000
  /// Different kinds; further ones, which no policy names, share one name in decisions. A policy has far fewer.
  public var kindsMax = 10_000

  public init() {}
}
