public import Domain

/// The bounds of a planner's memory and times, each with its reason.
public struct PlannerBounds: Sendable {
  /// The number of causes that wait on one instance at most. When one more arrives, the oldest one that adds no value of its own,
  /// or else the oldest one, ends as `SUPERSEDED`. 32 is more than a screen can show, and it keeps a device's state record below
  /// 4 KB.
  /// - Beyond: the oldest cause that adds no value, or else the oldest cause, ends as `SUPERSEDED`.
  public var causesPerInstanceMax = 32
  /// The number of pairs of a subject and an event type that the subject memory holds in one generation; it keeps two
  /// generations. A pair takes 140 bytes, or 560 with 16 events, and 140 more for each set of fields that kinds display of the
  /// subject, with up to two fields. The displayed state of a subject whose name an instance listens to is kept longer than that.
  /// - Beyond: a new generation begins, and the older of the two is forgotten.
  public var subjectsPerGenerationMax = 500_000
  /// The size of the value of one state record that holds devices, or notes about subjects. A usual device takes 400 bytes; a device
  /// that reaches every bound takes some MB, and so several records. Bytes.
  /// - Beyond: another state record begins.
  public var stateChunkBytesMax = 64 * 1024
  /// The size by which the devices in `rouse.state` may exceed 2.25 times the size of the newest version of each device, before the
  /// oldest of them are written again; likewise the notes about subjects. It spares a small fleet the rewriting. Bytes.
  /// - Beyond: the oldest devices or notes are written again.
  public var stateSpareBytes = 1024 * 1024
  /// The size of the value of one state record that holds the policy. A larger one is written in pieces (`SplitRecord`), and so
  /// is a large device in a local snapshot. Brokers accept 1 MB by default. Bytes.
  /// - Beyond: the record is written in pieces.
  public var stateRecordBytesMax = 512 * 1024
  /// The time after which an app counts as in the background even without the signal `backgrounded`. That signal may be lost,
  /// and no app stays in the foreground that long unattended.
  /// - Beyond: the app counts as in the background.
  public var foregroundMax = TimeSpan.hours(2)
  /// The time for which a command is worth sending. The end of an activity, and an update at priority 5, are worth sending for longer.
  /// - Beyond: the command has expired; the sender should drop it.
  public var commandLifetime = TimeSpan.minutes(15)

  /// The demand that is assumed of an instance before anything has been learnt about it. Only tests change it.
  public var demandPrior = DemandPrior.standard

  /// The number of removed instances of one device whose ledgers are kept until their day is over. It is more than a device can
  /// charge in a day at any profile's push rate. Beyond it, the ledger that ends first is removed.
  /// - Beyond: the ledger that ends first is removed.
  public var retiredPerDeviceMax = 1000
  /// The number of subjects that are remembered as started for one push-to-start token, by a push or by a broadcast channel.
  /// Beyond it, the oldest is forgotten and may be started again. It is far more than a person follows in half a day, and it
  /// keeps the token's part of the state record below 300 KB.
  /// - Beyond: the oldest subject is forgotten, and may be started again.
  public var startsPerTokenMax = 1000
  /// The number of kinds that a planner tells apart. Further kinds that no policy names share one name in decisions. A kind takes
  /// some 12 KB for what is learnt about it, and an app has a few dozen kinds. A policy names at most 256.
  /// - Beyond: further kinds that no policy names are counted and named as one. `rouse_instances_of_other_kinds_total` counts their
  ///   instances.
  public var kindsMax = 500

  /// The number of devices of one log partition. Forgotten devices count until their ledgers are full again. With so many, the
  /// table of devices alone would take 2 GB.
  /// - Beyond: the state is refused as damaged; use more partitions.
  static let deviceSlotsMax: UInt32 = 16_777_216

  /// Creates the default bounds.
  public init() {}
}
