import Domain
import KafkaClient

/// The watch of a planner thread over the group of planners, as a static member of it. It finds two things that the
/// group does not mend by itself:
///
/// - **A partition without an owner.** A static member may die between the revocation of a partition and its next join. Its
///   successor gets the rest of its partitions without a rebalance, and the partition that was to move belongs to no member.
///   Each thread sees it; the member with the fewest partitions joins again, which rebalances the group.
/// - **A member that is gone.** Its session ended or it left. If it died in a transaction, readers of committed records
///   wait for the end of that transaction. The transactional id of a planner thread is its `group.instance.id`, so the
///   first of the members that are left can end it at once.
///
/// A look costs one request. The thread looks after each rebalance, then every second until everything is in order,
/// then once a minute.
struct GroupWatch {
  /// A step that the thread takes after a look, to mend what it saw.
  enum Remedy: Equatable {
    /// End the transaction that the member of this name may have left open.
    case fence(Identifier)
    /// Join again, because these partitions have no owner.
    case rejoin([Int32])
  }

  /// The name of this thread in the group: its `group.instance.id`.
  private let own: Identifier
  /// The beginning of the names of all planner threads of the group.
  private let prefix: Identifier
  private let topic: String
  private let partitions: Int32
  /// The instant of the next look; nil once the cluster has refused the request for good.
  private var next: Duration?
  /// The names of the static members that the last look found.
  private var known: Set<Identifier> = []
  /// The partitions that every look since an instant has found without an owner; nil if there are none.
  private var unowned: (partitions: [Int32], since: Duration)?

  /// The time between a rebalance and the look that follows it.
  static let afterRebalance = Duration.milliseconds(200)
  /// The time to the next look while the group is rebalanced, or a partition has no owner.
  static let whileUnsettled = Duration.seconds(1)
  /// The time for which a partition must have had no owner before a member joins again. A partition that moves to
  /// another member has none for a moment, while its old owner commits.
  static let ownerlessMin = Duration.seconds(2)
  /// The time to the next look after one that failed.
  static let afterFailure = Duration.seconds(10)
  /// The time to the next look when everything is in order.
  static let atRest = Duration.seconds(60)
  /// The longest wait for the answer to a look. The thread plans nothing meanwhile.
  static let timeout = Duration.seconds(1)

  /// Makes the watch of a thread that is about to join the group.
  ///
  /// - Parameters:
  ///   - own: The `group.instance.id` of the thread.
  ///   - prefix: The beginning of the names of all planner threads of the group.
  ///   - topic: The name of the log.
  ///   - partitions: The number of partitions of the log.
  ///   - now: The present instant.
  init(own: Identifier, prefix: Identifier, topic: String, partitions: Int32, at now: Duration) {
    self.own = own
    self.prefix = prefix
    self.topic = topic
    self.partitions = partitions
    next = now
  }

  /// Whether to look now.
  func isDue(at now: Duration) -> Bool { next.map { $0 <= now } ?? false }

  /// Notes that the group was rebalanced.
  mutating func rebalanced(at now: Duration) {
    guard let next else { return }
    self.next = min(next, now + Self.afterRebalance)
  }

  /// Notes that a look failed.
  ///
  /// - Parameters:
  ///   - isFinal: Whether the cluster does not know the request. Then there are no more looks.
  ///   - now: The present instant.
  mutating func failed(forGood isFinal: Bool, at now: Duration) { next = isFinal ? nil : now + Self.afterFailure }

  /// Examines the group as it is at this instant.
  ///
  /// - Parameters:
  ///   - group: The group as its coordinator sees it.
  ///   - now: The present instant.
  /// - Returns: The steps to take, in order.
  mutating func take(_ group: KafkaGroup, at now: Duration) -> [Remedy] {
    let present = Set(group.members.compactMap { $0.instance.map { Identifier($0) } })
    guard group.isStable, present.contains(own) else {
      known.formUnion(present)
      unowned = nil
      next = now + Self.whileUnsettled
      return []
    }
    let gone = known.subtracting(present).filter { $0.hasPrefix(prefix) }.sorted()
    known = present
    var remedies: [Remedy] = present.min() == own ? gone.map { Remedy.fence($0) } : []
    let ownerless = self.ownerless(in: group)
    next = now + (ownerless.isEmpty ? Self.atRest : Self.whileUnsettled)
    let still = unowned?.partitions.filter(ownerless.contains) ?? []
    guard let since = unowned?.since, !still.isEmpty else {
      unowned = ownerless.isEmpty ? nil : (ownerless, now)
      return remedies
    }
    unowned = (still, since)
    if now - since >= Self.ownerlessMin, healer(in: group) == own {
      unowned = nil
      remedies.append(.rejoin(still))
    }
    return remedies
  }

  private func ownerless(in group: KafkaGroup) -> [Int32] {
    let owned = Set(group.members.flatMap(\.partitions).filter { $0.topic == topic }.map(\.partition))
    return (0..<partitions).filter { !owned.contains($0) }
  }

  /// The static member that joins again: the one with the fewest partitions, because it interrupts the fewest. All
  /// members choose the same one.
  private func healer(in group: KafkaGroup) -> Identifier? {
    group.members.compactMap { member in member.instance.map { (Identifier($0), member.partitions.count) } }
      .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
  }
}
