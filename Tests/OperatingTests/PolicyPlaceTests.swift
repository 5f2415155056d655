import Domain
import Policies
import Testing

@testable import Operating

@Suite("Age of policies in the log") struct PolicyPlaceTests {
  private static func policy(_ offset: Int64, at: Int64?, _ version: Identifier) -> ClusterFacts.LoggedPolicy {
    ClusterFacts.LoggedPolicy(
      offset: offset, at: at.map { Timestamp(milliseconds: $0) },
      reference: PolicyReference(version: version, hash: "h"))
  }

  @Test("the newest policy is the one with the latest time, whatever the offsets of the partitions are")
  func newest() {
    var facts = ClusterFacts()
    #expect(facts.newestPolicy == nil)
    // Partition 0 has had more records, and did not confirm the newest policy.
    facts.policies = [0: Self.policy(90_000, at: 1000, "old"), 1: Self.policy(7, at: 2000, "new")]
    #expect(facts.newestPolicy?.partition == 1 && facts.newestPolicy?.offset == 7)
  }

  @Test("between records of the same time or of none, the larger offset and then the smaller partition decide")
  func ties() {
    let none = PolicyPlace(at: nil, offset: 9, partition: 0)
    let first = PolicyPlace(at: Timestamp(milliseconds: 1), offset: 3, partition: 1)
    let later = PolicyPlace(at: Timestamp(milliseconds: 1), offset: 4, partition: 2)
    let same = PolicyPlace(at: Timestamp(milliseconds: 1), offset: 4, partition: 0)
    #expect(none < first && first < later && later < same && !(same < later))
  }
}
