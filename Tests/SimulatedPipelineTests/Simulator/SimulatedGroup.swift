import KafkaClient

@testable import Pipeline

/// A consumer group: generations, rebalances, static members, offsets.
///
///     stable ── a member joins, leaves, rejoins or times out ──► preparing
///     preparing ── every member that is left has rejoined ──► stable, next generation
///
/// A partition that moves is first taken from its owner's share. When the owner has released it, the owner rejoins, and the
/// next generation assigns the partition. Members of an eager assignor release everything before they rejoin.
///
/// A static member (KIP-345) that comes back within its session replaces the former process: it keeps the share, and no
/// member has to rejoin. It is expelled only when its session is over, not for rejoining late.
final class SimulatedGroup {
  struct Member {
    var id: String
    /// The `group.instance.id` of a static member.
    var instance: String?
    var topics: [String]
    var lastSeen: Int64
    var session: Int64
    var rebalanceTimeout: Int64
    var hasJoined = false
    /// The partitions that it owned when it joined.
    var claimed: [KafkaTopicPartition] = []
    var share: [KafkaTopicPartition] = []
  }

  let name: String
  private let time: SimulatedTime
  private(set) var generation: Int32 = 0
  private(set) var members: [Member] = []
  private(set) var isPreparing = false
  private var preparingSince: Int64 = 0
  private(set) var offsets: [KafkaTopicPartition: Int64] = [:]
  /// The remarks beside the offsets.
  private(set) var remarks: [KafkaTopicPartition: String] = [:]
  /// The offsets in open transactions, by partition and producer.
  var pending: [KafkaTopicPartition: [Int64: Int64]] = [:]
  private var membersMade = 0
  private(set) var expiries = 0
  /// The number of times that a static member came back.
  private(set) var returns = 0

  init(name: String, time: SimulatedTime) {
    self.name = name
    self.time = time
  }

  // MARK: Members

  func join(topics: [String], session: Int64, rebalanceTimeout: Int64, instance: String? = nil) -> String {
    membersMade += 1
    // The order of ids differs from the order of joining.
    let id = "member-\((membersMade &* 7919) % 1000)-\(membersMade)"
    if let instance, let known = members.firstIndex(where: { $0.instance == instance }) {
      members[known].id = id
      members[known].lastSeen = time.now
      members.sort { $0.id < $1.id }
      returns += 1
      return id
    }
    members.append(
      Member(
        id: id, instance: instance, topics: topics, lastSeen: time.now, session: session,
        rebalanceTimeout: rebalanceTimeout))
    members.sort { $0.id < $1.id }
    rebalance()
    return id
  }

  func leave(_ id: String) {
    guard members.contains(where: { $0.id == id }) else { return }
    members.removeAll { $0.id == id }
    rebalance()
  }

  func rebalance() {
    guard !isPreparing else { return }
    isPreparing = true
    preparingSince = time.now
    for index in members.indices { members[index].hasJoined = false }
  }

  func member(_ id: String) -> Member? { members.first { $0.id == id } }

  func heartbeat(_ id: String) {
    guard let index = members.firstIndex(where: { $0.id == id }) else { return }
    members[index].lastSeen = time.now
  }

  func rejoin(_ id: String, claiming partitions: [KafkaTopicPartition]) {
    guard let index = members.firstIndex(where: { $0.id == id }) else { return }
    members[index].hasJoined = true
    members[index].claimed = partitions
  }

  /// Returns the reason why offsets of a member are refused; nil if they are accepted.
  func refusal(of membership: SimulatedMembership) -> KafkaErrorCode? {
    guard member(membership.member) != nil else { return .unknownMember }
    return membership.generation == generation ? nil : .illegalGeneration
  }

  // MARK: Rebalancing

  func coordinate(partitionCount: (String) -> Int) {
    for member in members where time.now - member.lastSeen > member.session {
      expiries += 1
      leave(member.id)
    }
    guard isPreparing else { return }
    if !members.allSatisfy(\.hasJoined) {
      let patience = members.map(\.rebalanceTimeout).max() ?? 0
      guard time.now - preparingSince > patience else { return }
      members.removeAll { !$0.hasJoined && $0.instance == nil }
    }
    isPreparing = false
    generation += 1
    share(partitionCount)
  }

  private func share(_ partitionCount: (String) -> Int) {
    guard !members.isEmpty else { return }
    var free = Set(members.flatMap(\.topics)).sorted().flatMap { topic in
      (0..<partitionCount(topic)).map { KafkaTopicPartition(topic: topic, partition: Int32($0)) }
    }
    let quota = free.count / members.count
    var extra = free.count % members.count
    var shares: [String: [KafkaTopicPartition]] = [:]
    var claimed: Set<KafkaTopicPartition> = []
    // The members with the most partitions come first and keep the most, so that few partitions move.
    let order = members.sorted { ($1.claimed.count, $0.id) < ($0.claimed.count, $1.id) }
    for member in order {
      let mine = member.claimed.filter { free.contains($0) && !claimed.contains($0) }.sorted()
      claimed.formUnion(mine)
      let most = mine.count > quota && extra > 0 ? quota + 1 : quota
      if most > quota { extra -= 1 }
      shares[member.id] = Array(mine.prefix(most))
    }
    // A claimed partition is assigned after its owner has released it.
    free.removeAll { claimed.contains($0) }
    for member in order where (shares[member.id]?.count ?? 0) < quota {
      let missing = quota - (shares[member.id]?.count ?? 0)
      shares[member.id, default: []] += free.prefix(missing)
      free.removeFirst(min(missing, free.count))
    }
    for member in order where extra > 0 && !free.isEmpty && (shares[member.id]?.count ?? 0) == quota {
      shares[member.id, default: []].append(free.removeFirst())
      extra -= 1
    }
    for index in members.indices { members[index].share = shares[members[index].id] ?? [] }
  }

  // MARK: Offsets

  func commit(_ committed: [KafkaCommittedOffset]) {
    for offset in committed {
      offsets[offset.position.partition] = offset.position.offset
      remarks[offset.position.partition] = offset.metadata
    }
  }

  func end(producer: Int64, commit: Bool) {
    for partition in pending.keys.sorted() {
      guard let offset = pending[partition]?.removeValue(forKey: producer) else { continue }
      if commit {
        offsets[partition] = offset
        remarks[partition] = nil
      }
      if pending[partition]?.isEmpty == true { pending[partition] = nil }
    }
  }
}
