import Domain
import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

/// The part of the contract that is about static members. It leaves out the embedded broker, which knows none.
extension ClusterContractTests {
  @Test(
    "a static member that comes back in time keeps its partitions, without a rebalance", arguments: Kind.isolating)
  func staticMembers(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("static", partitions: 2)
    let (first, second, again) = (Listening(), Listening(), Listening())
    let one = try ground.consumer(["group.instance.id": "one"], listener: first)
    let two = try ground.consumer(["group.instance.id": "two"], listener: second)
    try one.subscribe([topic])
    #expect(try ground.poll(one) { _ in first.owned.count == 2 })
    try two.subscribe([topic])
    #expect(try ground.poll(one, two) { _ in first.owned.count == 1 && second.owned.count == 1 })
    let (mine, others) = (first.owned, second.owned)
    // A static member does not leave the group when it closes.
    one.close(timeout: .seconds(5))
    #expect(first.owned.isEmpty)
    let back = try ground.consumer(["group.instance.id": "one"], listener: again)
    try back.subscribe([topic])
    #expect(try ground.poll(back, two) { _ in again.owned == mine })
    #expect(second.owned == others && second.assignments == 1 && second.revokedMost == 0)
    back.close(timeout: .seconds(5))
    two.close(timeout: .seconds(5))
  }

  @Test(
    "a stable group is described with its members and their partitions; one that joins again, or leaves, makes it rebalance",
    arguments: Kind.isolating)
  func describing(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("described", partitions: 2)
    let (first, second) = (Listening(), Listening())
    let one = try ground.consumer(["group.instance.id": "one"], listener: first)
    let two = try ground.consumer(["group.instance.id": "two"], listener: second)
    try one.subscribe([topic])
    #expect(try ground.poll(one) { _ in first.owned.count == 2 })
    try two.subscribe([topic])
    for _ in 0..<2 {
      #expect(try ground.poll(one, two) { _ in first.owned.count == 1 && second.owned.count == 1 })
      var group = KafkaGroup(isStable: false, members: [])
      #expect(
        try ground.poll(one, two) { _ in
          group = try retrying(clock: ground.clock) { () throws(KafkaError) in
            try two.describeGroup(timeout: .seconds(5))
          }
          return group.isStable
        })
      let found = group.members.sorted { ($0.instance ?? "") < ($1.instance ?? "") }
      #expect(found.map(\.instance) == ["one", "two"])
      #expect(found.map { Set($0.partitions) } == [first.owned, second.owned])
      try one.rejoin([topic], timeout: .seconds(5))
      #expect(first.owned.isEmpty && first.lostCount == 0)
    }
    #expect(try ground.poll(one, two) { _ in first.owned.count == 1 && second.owned.count == 1 })
    one.leave(timeout: .seconds(5))
    #expect(first.owned.isEmpty && first.lostCount == 0)
    #expect(try two.describeGroup(timeout: .seconds(5)).members.map(\.instance) == ["two"])
    #expect(try ground.poll(two) { _ in second.owned.count == 2 })
    two.leave(timeout: .seconds(5))
  }

  @Test("a static member whose place another one took fails for good", arguments: Kind.isolating)
  func replacedMembers(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("replaced")
    let (first, second) = (Listening(), Listening())
    let old = try ground.consumer(["group.instance.id": "one"], listener: first)
    try old.subscribe([topic])
    #expect(try ground.poll(old) { _ in first.owned.count == 1 })
    let new = try ground.consumer(["group.instance.id": "one"], listener: second)
    try new.subscribe([topic])
    #expect(try ground.poll(new) { _ in second.owned.count == 1 })
    let error = #expect(throws: KafkaError.self) { _ = try ground.poll(old) { _ in false } }
    #expect(error?.code == .fencedInstance && error?.isFatal == true)
    old.close(timeout: .seconds(1))
    new.leave(timeout: .seconds(5))
  }
}
