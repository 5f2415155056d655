@testable import Pipeline
@testable import Planning

/// Checks guarantee 6: the memory of planners is bounded by the registered devices and the configured bounds, regardless of
/// traffic. Each planner is checked after each turn in which its position moved.
struct MemoryCheck {
  private let bounds: PlannerBounds
  private let devices: Int
  /// The number of source partitions whose origins reach the log.
  private let sources: Int
  /// The position of each partition's planner at its last check.
  private var seen: [Int32: Int64] = [:]
  /// The most bytes that have lived in the chunks of each sort, by partition.
  private var liveMost: [ChunkSort: [Int32: Int]] = [:]

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
    check("truths", census.truths, max: (census.subjects + devices * Self.instancesPerDevice) * (census.kinds + 1))
    for sort in ChunkSort.allCases {
      let (chunks, entries) =
        switch sort {
        case .devices: (census.deviceChunks, census.devices)
        case .notes: (census.noteChunks, census.subjects + census.truths)
        }
      check(
        "bytes of \(sort.noun) in chunks", Int(chunks.bytes),
        max: chunkBytesMax(chunks, entries, of: sort, processor.partition))
    }
    check("kinds", census.kinds, max: Self.kinds)
    check("apps", census.apps, max: Traffic.apps.count)
    // Strays include apps without a device and without a token spent or refunded today.
    check("entries of nobody", census.strays, max: 0)
    check("devices to write", census.changedDevices, max: 2 * devices)
    check("origins", position.origins.count, max: sources)
    return overruns
  }

  /// Returns the bound of the chunks of one sort (see `ChunkLog`): about 2.5 times what lives in them, and what one commit adds.
  /// Chunks and entries are small here, so the fixed cost of each chunk and the rounding of each entry count.
  private mutating func chunkBytesMax(
    _ chunks: StateExtent.Chunks, _ entries: Int, of sort: ChunkSort, _ partition: Int32
  ) -> Int {
    let most = max(liveMost[sort]?[partition] ?? 0, Int(chunks.liveBytes) + 16 * entries)
    liveMost[sort, default: [:]][partition] = most
    let size = bounds.stateChunkBytesMax
    let packed = most * (size + StateExtent.recordBytes) / max(64, size - 40)
    return bounds.stateSpareBytes + 3 * packed + 2 * size + 4000
  }
}
