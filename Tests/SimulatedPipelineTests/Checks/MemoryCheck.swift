import Planning

@testable import Pipeline

/// Checks guarantee 6: the memory of planners is bounded by the registered devices and the configured bounds, regardless of
/// traffic. Each planner is checked after each turn in which its position moved.
struct MemoryCheck {
  private let bounds: PlannerBounds
  private let devices: Int
  /// The number of source partitions whose origins reach the log.
  private let sources: Int
  /// The position of each partition's planner at its last check.
  private var seen: [Int32: Int64] = [:]
  /// The most bytes that the memory of subjects has taken, by partition.
  private var wholeMost: [Int32: Int] = [:]

  /// The most instances of a device of the traffic at one time.
  private static let instancesPerDevice = 6
  /// The number of kinds in the policies.
  private static let kinds = 5

  init(_ scenario: Scenario) {
    bounds = scenario.settings.bounds
    devices = scenario.devices + Traffic.channels * Traffic.apps.count
    sources = 2 * scenario.partitions + Scenario.eventPartitions
  }

  /// Checks the tables of a planner.
  ///
  /// - Returns: A sentence for each table that is larger than it may be.
  mutating func overruns(of processor: PartitionProcessor) -> [String] {
    let position = processor.position
    guard seen[processor.partition] != position.nextOffset else { return [] }
    seen[processor.partition] = position.nextOffset
    let census = processor.census
    var overruns: [String] = []
    func check(_ what: String, _ count: Int, max: Int) {
      if count > max { overruns.append("\(count) \(what), \(max) is the bound; \(census)") }
    }
    check("devices", census.devices, max: devices)
    check(
      "instances", census.instances, max: census.devices * (Self.instancesPerDevice + bounds.retiredPerDeviceMax))
    check("instances of one device kept for their ledgers", census.retiredPerDevice, max: bounds.retiredPerDeviceMax)
    check("events that wait on one instance", census.causesPerInstance, max: bounds.causesPerInstanceMax)
    check("events that wait", census.causes, max: census.instances * bounds.causesPerInstanceMax)
    // The current event, and those that its record released.
    check("events", census.events, max: census.causes + 1 + census.instances * bounds.causesPerInstanceMax)
    check("instances that wait", census.waiting, max: census.instances)
    check("timers", census.timers, max: 2 * census.instances + 64)
    check("starts of one token", census.startsPerToken, max: bounds.startsPerTokenMax)
    check("subjects", census.subjects, max: 2 * bounds.subjectsPerGenerationMax)
    check("hashes of events and displayed fields", census.subjectHashes, max: 16 * census.subjects + 32 * census.truths)
    // A state is kept for a subject that was heard of in the last two generations, or whose name an instance listens to.
    check("truths", census.truths, max: (census.subjects + devices * Self.instancesPerDevice) * census.kinds)
    check("bytes of notes", census.noteBytes, max: noteBytesMax(census, processor.partition))
    check("kinds", census.kinds, max: Self.kinds)
    check("apps", census.apps, max: Traffic.apps.count)
    // Strays include apps without a device and without a token spent today.
    check("entries of nobody", census.strays, max: 0)
    check("devices to write", census.changedDevices, max: 2 * devices)
    check("origins", position.origins.count, max: sources)
    return overruns
  }

  /// Returns the bound of the note log (see `NoteLog`): about four times the memory of subjects when it is written whole,
  /// plus the notes of one commit. Notes are small here, so the fixed cost of each counts.
  private mutating func noteBytesMax(_ census: PlannerCensus, _ partition: Int32) -> Int {
    let whole = max(wholeMost[partition] ?? 0, (census.subjects + census.truths) * 22 + census.subjectHashes * 12)
    wholeMost[partition] = whole
    return bounds.noteSpareBytes + 10 * whole + 600
  }
}
