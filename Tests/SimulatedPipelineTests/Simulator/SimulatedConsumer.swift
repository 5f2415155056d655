import KafkaClient

@testable import Installation
@testable import Pipeline

/// A consumer that behaves as one of librdkafka 2.0.2: the group protocol runs in the background, and the listener is called
/// in a poll.
final class SimulatedConsumer: ClusterConsumer {
  private struct Place {
    /// The next offset; nil until the first fetch, which resolves `start`.
    var next: Int64?
    var start: KafkaOffset
    var isPaused = false
    /// The end that was reported last.
    var toldEnd: Int64?
  }

  private unowned let process: SimulatedProcess
  private let broker: SimulatedBroker
  private weak var listener: (any KafkaRebalanceListener)?
  private let groupName: String
  private let committedOnly: Bool
  private let tellsEnds: Bool
  private let reset: String
  /// The `group.instance.id` of a static member.
  private let instance: String?
  /// Whether all partitions are released before each rebalance.
  private let isEager: Bool
  private let session: Int64
  private let pollInterval: Int64
  private var topics: [String] = []
  private(set) var isClosed = false
  private var places: [KafkaTopicPartition: Place] = [:]
  private var events: [KafkaEvent] = []

  // The client's view of the group.
  private var member = ""
  private var generation: Int32 = -1
  /// The partitions that the listener knows of.
  private var owned: [KafkaTopicPartition] = []
  private var newShare: [KafkaTopicPartition]?
  private var isLost = false
  /// Whether another consumer has joined as the same static member.
  private var isFenced = false
  /// Whether all partitions must be released before the member rejoins.
  private var mustLetGo = false
  private var isInCallback = false
  private var lastPoll: Int64

  init(_ configuration: KafkaConfiguration, listener: (any KafkaRebalanceListener)?, process: SimulatedProcess) {
    self.process = process
    broker = process.broker
    self.listener = listener
    groupName = configuration["group.id"] ?? ""
    committedOnly = configuration["isolation.level"] != "read_uncommitted"
    tellsEnds = configuration["enable.partition.eof"] == "true"
    instance = configuration["group.instance.id"]
    isEager = configuration["partition.assignment.strategy"] != "cooperative-sticky"
    reset = configuration["auto.offset.reset"] ?? "latest"
    session = Int64(configuration.number("session.timeout.ms", 45_000)) * 1000
    pollInterval = Int64(configuration.number("max.poll.interval.ms", 300_000)) * 1000
    lastPoll = broker.time.now
  }

  // MARK: The group in the background

  private var group: SimulatedGroup { broker.group(groupName) }

  func background() {
    guard !topics.isEmpty, !isClosed, !isFenced else { return }
    if member.isEmpty {
      if !isLost, !isInCallback { enter() }
      return
    }
    guard let mine = group.member(member) else {
      if let instance, group.members.contains(where: { $0.instance == instance }) { isFenced = true }
      loseAll()
      return
    }
    if broker.time.now - lastPoll > pollInterval {
      group.leave(member)
      loseAll()
      return
    }
    group.heartbeat(member)
    let isBusy = newShare != nil || mustLetGo || isInCallback
    if group.isPreparing {
      // A share that was not taken yet is void: the next generation brings another.
      if !isInCallback, !mine.hasJoined {
        newShare = nil
        mustLetGo = isEager && !owned.isEmpty
        if !mustLetGo { group.rejoin(member, claiming: owned) }
      }
    } else if !mine.hasJoined {
      // The group has formed a generation without this static member.
      loseAll()
    } else if group.generation != generation, !isBusy {
      generation = group.generation
      newShare = mine.share
    }
  }

  private func enter() {
    member = group.join(topics: topics, session: session, rebalanceTimeout: pollInterval, instance: instance)
    group.rejoin(member, claiming: owned)
  }

  /// Records that the group no longer knows the member.
  private func loseAll() {
    member = ""
    generation = -1
    newShare = nil
    mustLetGo = false
    isLost = true
  }

  /// Calls the listener, inside of a poll or a close.
  private func serveGroup() {
    if isLost {
      isLost = false
      let gone = owned
      if !gone.isEmpty {
        isInCallback = true
        listener?.lost(gone)
        isInCallback = false
        drop(gone)
      }
    } else if mustLetGo {
      mustLetGo = false
      isInCallback = true
      listener?.revoked(owned)
      isInCallback = false
      drop(owned)
      process.fate?.note("everything let go for an eager assignor")
      if !process.isDead, group.member(member) != nil { group.rejoin(member, claiming: []) }
    } else if let share = newShare {
      newShare = nil
      isInCallback = true
      take(share)
      isInCallback = false
    }
  }

  private func take(_ share: [KafkaTopicPartition]) {
    let revoked = owned.filter { !share.contains($0) }
    let added = share.filter { !owned.contains($0) }
    if !revoked.isEmpty {
      listener?.revoked(revoked)
      drop(revoked)
    }
    if !process.isDead, !added.isEmpty || revoked.isEmpty {
      let starts = listener?.assigned(added) ?? [:]
      owned = (owned + added).sorted()
      for partition in added { places[partition] = Place(start: starts[partition] ?? .committed) }
    }
    // The group can assign the released partitions once this member has rejoined without them.
    if !revoked.isEmpty, !process.isDead, group.member(member) != nil { group.rebalance() }
  }

  private func drop(_ partitions: [KafkaTopicPartition]) {
    owned.removeAll { partitions.contains($0) }
    for partition in partitions { places[partition] = nil }
  }

  /// Whether the partition is assigned and was delivered completely.
  func hasRead(_ partition: KafkaTopicPartition) -> Bool {
    guard !isClosed, let place = places[partition], let log = broker.log(partition) else { return false }
    guard let next = place.next else { return log.end == 0 }
    return next >= broker.readableEnd(log, committedOnly: committedOnly)
  }

  // MARK: ClusterConsumer

  private func call<Result>(
    _ call: PortCall, _ body: () throws(KafkaError) -> Result
  ) throws(KafkaError) -> Result {
    guard !isClosed else {
      throw KafkaError(
        code: .closed, message: "the consumer has been closed", operation: call.rawValue, isRetriable: false)
    }
    return try process.perform(call, body)
  }

  func subscribe(_ topics: [String]) throws(KafkaError) {
    try call(.subscribe) { () throws(KafkaError) in self.topics = topics }
  }

  func assignment() throws(KafkaError) -> [KafkaTopicPartition] {
    try call(.assign) { () throws(KafkaError) in places.keys.sorted() }
  }

  func incrementalAssign(_ partitions: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError) {
    try call(.assign) { () throws(KafkaError) in
      for (partition, start) in partitions { places[partition] = Place(start: start) }
    }
  }

  func incrementalUnassign(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try call(.assign) { () throws(KafkaError) in
      for partition in partitions { places[partition] = nil }
    }
  }

  func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try setPaused(true, partitions, "pausing")
  }

  func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
    try setPaused(false, partitions, "resuming")
  }

  private func setPaused(_ paused: Bool, _ partitions: [KafkaTopicPartition], _ what: String) throws(KafkaError) {
    try call(.assign) { () throws(KafkaError) in
      for partition in partitions {
        guard places[partition] != nil else { throw Self.notAssigned(what, partition) }
        places[partition]?.isPaused = paused
      }
    }
  }

  func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError) {
    try call(.seek) { () throws(KafkaError) in
      guard places[partition] != nil else { throw Self.notAssigned("seeking in", partition) }
      places[partition]?.start = offset
      places[partition]?.next = nil
      places[partition]?.toldEnd = nil
    }
  }

  private static func notAssigned(_ what: String, _ partition: KafkaTopicPartition) -> KafkaError {
    KafkaError(
      code: .unknownPartition, message: "not assigned", operation: "\(what) \(partition)", isRetriable: false)
  }

  func poll(maxMessages: Int, timeout: Duration) throws(KafkaError) -> KafkaBatch {
    do throws(KafkaError) {
      return try call(.poll) { () throws(KafkaError) in
        lastPoll = broker.time.now
        var batch = KafkaBatch()
        // A rebalance may come before, between or behind the messages of one poll.
        let first = newShare == nil && !isLost && !mustLetGo ? 0 : process.fate?.below(maxMessages + 1) ?? 0
        if first > 0 { fetch(first, into: &batch) }
        serveGroup()
        guard !process.isDead else { throw SimulatedProcess.crashed("polling") }
        if isFenced {
          throw KafkaError(
            code: .fencedInstance, message: "another consumer has the instance", operation: "polling", isFatal: true)
        }
        if batch.messages.count < maxMessages { fetch(maxMessages - batch.messages.count, into: &batch) }
        batch.events += events
        events = []
        if batch.messages.isEmpty, batch.events.isEmpty { broker.pass(timeout.microseconds) }
        return batch
      }
    } catch {
      // Failures in the background are events.
      guard error.isRetriable, !error.isFatal else { throw error }
      return KafkaBatch(messages: [], events: [.error(error)])
    }
  }

  private func fetch(_ max: Int, into batch: inout KafkaBatch) {
    var partitions = places.keys.sorted()
    guard !partitions.isEmpty else { return }
    let turn = process.fate?.below(partitions.count) ?? 0
    partitions = Array(partitions[turn...] + partitions[..<turn])
    var room = max
    for partition in partitions where room > 0 {
      guard let log = broker.log(partition), let place = places[partition], !place.isPaused else { continue }
      guard var next = place.next ?? start(of: partition, place.start, log) else { continue }
      guard next >= log.low, next <= log.end else {
        next = outOfRange(partition, next, log)
        places[partition]?.next = next
        continue
      }
      let end = broker.readableEnd(log, committedOnly: committedOnly)
      var index = log.index(of: next)
      while index < log.records.count, log.records[index].offset < end, room > 0 {
        let record = log.records[index]
        if broker.isVisible(record, committedOnly: committedOnly) {
          batch.messages.append(record.message(partition.topic, partition.partition))
          room -= 1
        }
        next = record.offset + 1
        index += 1
      }
      if index >= log.records.count || log.records[index].offset >= end { next = Swift.max(next, end) }
      places[partition]?.next = next
      if tellsEnds, next >= end, place.toldEnd != next {
        places[partition]?.toldEnd = next
        batch.events.append(.partitionEnd(KafkaPosition(partition, offset: next)))
      }
    }
  }

  private func start(of partition: KafkaTopicPartition, _ start: KafkaOffset, _ log: SimulatedLog) -> Int64? {
    switch start {
    case .at(let offset): return offset
    case .beginning: return log.low
    case .end: return broker.readableEnd(log, committedOnly: committedOnly)
    case .committed:
      // The client waits for the offsets of open transactions.
      if group.pending[partition] != nil { return nil }
      return group.offsets[partition] ?? outOfRange(partition, nil, log)
    }
  }

  private func outOfRange(_ partition: KafkaTopicPartition, _ offset: Int64?, _ log: SimulatedLog) -> Int64 {
    switch reset {
    case "earliest", "beginning", "smallest": return log.low
    case "latest", "end", "largest": return broker.readableEnd(log, committedOnly: committedOnly)
    default:
      places[partition]?.isPaused = true
      events.append(
        .error(
          KafkaError(
            code: .offsetResetForbidden, message: "no offset, or one out of range",
            operation: "consuming \(partition)", isRetriable: false)))
      return offset ?? log.low
    }
  }

  func committed(_ partitions: [KafkaTopicPartition], timeout: Duration) throws(KafkaError) -> [KafkaPosition] {
    try committedOffsets(partitions, timeout: timeout).map(\.position)
  }

  func committedOffsets(
    _ partitions: [KafkaTopicPartition], timeout: Duration
  ) throws(KafkaError) -> [KafkaCommittedOffset] {
    try call(.committed) { () throws(KafkaError) in
      try process.requireCoordinator("asking for committed offsets")
      if let unstable = partitions.first(where: { group.pending[$0] != nil }) {
        broker.pass(timeout.microseconds)
        throw KafkaError(
          code: .unstableOffsetCommit, message: "a transaction is open",
          operation: "asking for the committed offset of \(unstable)")
      }
      return partitions.compactMap { partition in
        group.offsets[partition].map {
          KafkaCommittedOffset(KafkaPosition(partition, offset: $0), metadata: group.remarks[partition] ?? "")
        }
      }
    }
  }

  func commitInBackground(_ offsets: [KafkaCommittedOffset]) throws(KafkaError) {
    do throws(KafkaError) {
      try call(.commitOffsets) { () throws(KafkaError) in
        try process.requireCoordinator("committing")
        let membership = SimulatedMembership(group: groupName, member: member, generation: generation)
        if let code = group.refusal(of: membership) {
          throw KafkaError(code: code, message: "not taken", operation: "committing", isRetriable: true)
        }
        group.commit(offsets)
      }
    } catch {
      guard error.isRetriable, !error.isFatal else { throw error }
      events.append(.error(error))
    }
  }

  func watermarks(of partition: KafkaTopicPartition, timeout: Duration) throws(KafkaError) -> KafkaWatermarks {
    try call(.watermarks) { () throws(KafkaError) in
      guard let log = broker.log(partition) else {
        throw KafkaError(
          code: .unknownTopicOrPartition, message: "no such partition",
          operation: "asking for watermarks of \(partition)"
        )
      }
      return KafkaWatermarks(low: log.low, high: broker.readableEnd(log, committedOnly: committedOnly))
    }
  }

  func cachedWatermarks(of partition: KafkaTopicPartition) throws(KafkaError) -> KafkaWatermarks? {
    broker.log(partition).map {
      KafkaWatermarks(low: $0.low, high: broker.readableEnd($0, committedOnly: committedOnly))
    }
  }

  func membership() throws(KafkaError) -> any GroupMembership {
    try call(.membership) { () throws(KafkaError) in
      if !topics.isEmpty, member.isEmpty || isLost, !broker.defects.contains(.namesNobody) {
        throw KafkaError(
          code: .unknownMember, message: "no member", operation: "asking for the consumer group", isRetriable: false,
          isAbortable: true)
      }
      return SimulatedMembership(group: groupName, member: member, generation: generation)
    }
  }

  func describeGroup(timeout: Duration) throws(KafkaError) -> KafkaGroup {
    try call(.describeGroup) { () throws(KafkaError) in
      try process.requireCoordinator("describing the group")
      // As on a real broker, shares are told of a stable group only.
      let members = group.members.map { member in
        KafkaGroupMember(
          id: member.id, instance: member.instance, partitions: group.isPreparing ? [] : member.share.sorted())
      }
      return KafkaGroup(isStable: !group.isPreparing, members: members)
    }
  }

  func rejoin(_ topics: [String], timeout: Duration) throws(KafkaError) {
    try call(.subscribe) { () throws(KafkaError) in
      letGo(leaving: true)
      guard !process.isDead else { return }
      process.fate?.note("joined again for a partition without an owner")
      member = ""
      generation = -1
      newShare = nil
      mustLetGo = false
      self.topics = topics
    }
  }

  @discardableResult func leave(timeout: Duration) -> Bool { close(leaving: true) }

  /// A static member stays in the group until its session is over.
  @discardableResult func close(timeout: Duration) -> Bool { close(leaving: instance == nil) }

  /// Tells the listener that everything is gone, and leaves the group if that is asked for.
  private func letGo(leaving: Bool) {
    if isLost { serveGroup() }
    if !owned.isEmpty {
      isInCallback = true
      listener?.revoked(owned)
      isInCallback = false
    }
    guard !process.isDead else { return }
    if !member.isEmpty, leaving { group.leave(member) }
    owned = []
    places = [:]
  }

  private func close(leaving: Bool) -> Bool {
    guard !isClosed, !process.isGone else { return true }
    do throws(KafkaError) {
      try process.perform(.close) { () throws(KafkaError) in
        letGo(leaving: leaving)
        guard !process.isDead else { return }
        isClosed = true
      }
    } catch { return false }
    return true
  }
}
