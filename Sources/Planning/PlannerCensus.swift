/// The counts of everything in a planner that could grow with traffic. Tests use it to check that memory is bounded: each count
/// must stay within a bound that follows from the registered devices and from `PlannerBounds`, whatever the traffic.
public struct PlannerCensus: Equatable, Sendable {
  /// The number of devices.
  public var devices = 0
  /// The number of instances, including those that are kept only for their ledgers.
  public var instances = 0
  /// The largest number of instances that one device keeps only for their ledgers.
  public var retiredPerDevice = 0
  /// The number of waiting causes: pairs of an event and an instance.
  public var causes = 0
  /// The largest number of causes that wait on one instance.
  public var causesPerInstance = 0
  /// The number of events that a waiting cause or the current record refers to.
  public var events = 0
  /// The number of instances with waiting causes or a timer.
  public var waiting = 0
  /// The number of entries in the timer queue, including outdated ones.
  public var timers = 0
  /// The largest number of subjects that are remembered as started for one push-to-start token.
  public var startsPerToken = 0
  /// The largest number of charge times that one instance with a rolling window keeps.
  public var chargesPerInstance = 0
  /// The number of entries for a subject and an event type in the subject memory.
  public var subjects = 0
  /// The number of entries in the subject memory that hold what is true: what a kind displays of a subject, or what templates read of it.
  public var truths = 0
  /// The number of event ids in the entries for event types, and of displayed values in the entries for kinds, together.
  public var subjectHashes = 0
  /// The chunks of devices in `rouse.state`.
  public var deviceChunks = StateExtent.Chunks()
  /// The chunks of notes about subjects in `rouse.state`.
  public var noteChunks = StateExtent.Chunks()
  /// The number of kinds.
  public var kinds = 0
  /// The number of apps.
  public var apps = 0
  /// The number of table entries whose device or instance is gone, and of apps without devices or counts of today.
  public var strays = 0
  /// The number of devices that the next commit writes or removes.
  public var changedDevices = 0

  /// Creates a census of an empty planner.
  public init() {}
}
