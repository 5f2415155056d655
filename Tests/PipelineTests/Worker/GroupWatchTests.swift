import Domain
import KafkaClient
import Testing

@testable import Pipeline

/// The conclusions of a planner thread from the members of its group, on a stepped time.
@Suite("the watch over the group of planners")
struct GroupWatchTests {
  private func watch(_ own: Identifier = "g-planner-a-0") -> GroupWatch {
    GroupWatch(own: own, prefix: "g-planner-", topic: "log", partitions: 3, at: .zero)
  }

  private func group(_ shares: [(String?, [Int32])], isStable: Bool = true) -> KafkaGroup {
    KafkaGroup(
      isStable: isStable,
      members: shares.enumerated().map { number, share in
        KafkaGroupMember(
          id: "m\(number)", instance: share.0.map { "g-planner-\($0)" },
          partitions: share.1.map { KafkaTopicPartition(topic: "log", partition: $0) })
      })
  }

  @Test("a partition that has no owner for two seconds makes the member with the fewest partitions join again")
  func ownerless() {
    let broken = group([("a-0", [0]), ("b-0", [])])
    var (mine, other) = (watch(), watch("g-planner-b-0"))
    for second in 0..<2 {
      #expect(mine.take(broken, at: .seconds(second)) == [])
      #expect(other.take(broken, at: .seconds(second)) == [])
      #expect(!mine.isDue(at: .seconds(second)) && mine.isDue(at: .seconds(second + 1)))
    }
    #expect(mine.take(broken, at: .seconds(2)) == [])
    #expect(other.take(broken, at: .seconds(2)) == [.rejoin([1, 2])])
    // The rebalance that follows gets as much time again.
    #expect(other.take(broken, at: .seconds(3)) == [])
  }

  @Test("a partition that moves has no owner for a moment, and nobody joins again")
  func moving() {
    var watch = watch()
    #expect(watch.take(group([("a-0", [0])]), at: .zero) == [])
    #expect(watch.take(group([("a-0", [0])], isStable: false), at: .seconds(1)) == [])
    #expect(watch.take(group([("a-0", [0, 1])]), at: .seconds(2)) == [])
    #expect(watch.take(group([("a-0", [0, 1, 2])]), at: .seconds(3)) == [])
    // Another partition moves each time.
    for second in 4..<9 {
      #expect(watch.take(group([("a-0", [0, second % 2 == 0 ? 1 : 2])]), at: .seconds(second)) == [])
    }
    #expect(watch.take(group([("a-0", [0, 1, 2])]), at: .seconds(9)) == [])
    watch.rebalanced(at: .seconds(2))
    #expect(watch.take(group([("a-0", [0, 1, 2])]), at: .seconds(3)) == [])
    #expect(!watch.isDue(at: .seconds(62)))
    #expect(watch.isDue(at: .seconds(63)))
    watch.rebalanced(at: .seconds(10))
    #expect(!watch.isDue(at: .seconds(10)) && watch.isDue(at: .seconds(11)))
  }

  @Test(
    "a member that is gone is fenced by the first one that is left, once, and only if it was a planner of the group")
  func gone() {
    let all = group([("a-0", [0]), ("b-0", [1]), ("c-0", [2])])
    let left = group([("a-0", [0, 2]), ("b-0", [1])])
    var (first, second) = (watch(), watch("g-planner-b-0"))
    _ = (first.take(all, at: .zero), second.take(all, at: .zero))
    #expect(first.take(group([("a-0", []), ("b-0", [])], isStable: false), at: .seconds(1)) == [])
    #expect(first.take(left, at: .seconds(2)) == [.fence("g-planner-c-0")])
    #expect(second.take(left, at: .seconds(2)) == [])
    #expect(first.take(left, at: .seconds(3)) == [])

    var other = KafkaGroup(isStable: false, members: [KafkaGroupMember(id: "m", instance: "else", partitions: [])])
    other.members += left.members
    #expect(first.take(other, at: .seconds(4)) == [])
    #expect(first.take(left, at: .seconds(5)) == [])
  }

  @Test("a thread that is not in the group yet remembers the members it sees, and does nothing")
  func joining() {
    var watch = watch()
    #expect(watch.isDue(at: .zero))
    #expect(watch.take(group([("b-0", [0])]), at: .zero) == [])
    #expect(watch.take(group([("a-0", [0, 1, 2])]), at: .seconds(1)) == [.fence("g-planner-b-0")])
  }

  @Test("a cluster that does not know the request is not asked again")
  func unknown() {
    var watch = watch()
    watch.failed(forGood: false, at: .zero)
    #expect(!watch.isDue(at: .seconds(9)))
    #expect(watch.isDue(at: .seconds(10)))
    watch.failed(forGood: true, at: .seconds(10))
    watch.rebalanced(at: .seconds(11))
    #expect(!watch.isDue(at: .seconds(1000)))
  }
}
