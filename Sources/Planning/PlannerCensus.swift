/// How much a planner holds of everything that traffic makes: memory is bounded where each of these is bounded by what is
/// registered and by `PlannerBounds`, however much comes. For checks of just that.
public struct PlannerCensus: Equatable, Sendable {
  public var devices = 0
  /// Registered, and kept for their ledgers.
  public var instances = 0
  /// Kept for their ledgers only, of the device that has most of them.
  public var retiredPerDevice = 0
  /// Pairs of an event and an instance that it waits on; of all instances, and of the one with most.
  public var causes = 0
  public var causesPerInstance = 0
  /// Events that something refers to.
  public var events = 0
  /// Instances on which something waits, or that are looked at again some time.
  public var waiting = 0
  /// Entries of the queue of timers, outdated ones included.
  public var timers = 0
  /// Subjects that the push-to-start token with most of them knows as started.
  public var startsPerToken = 0
  /// Charge times that the instance with a rolling window and most of them keeps.
  public var chargesPerInstance = 0
  /// Pairs of a subject and an event type that are remembered.
  public var subjects = 0
  /// Pairs of a subject and a kind of which it is remembered what the kind displays.
  public var truths = 0
  /// Hashes of events and of displayed fields that are kept of both.
  public var subjectHashes = 0
  /// Bytes of the notes about them in `rouse.state`, and the sizes of chunks that are kept for that.
  public var noteBytes = 0
  public var noteChunks = 0
  public var kinds = 0
  public var apps = 0
  /// Entries of tables by device or by instance whose owner is gone, and apps of no device that spent nothing today.
  public var strays = 0
  /// Devices that the next commit writes or removes.
  public var changedDevices = 0

  public init() {}
}
