import Testing

@testable import Operating

@Suite("The policies of the log") struct PolicyTrailTests {
  @Test("the newest come first, and a history that has forgotten some says so")
  func bounded() {
    func records(_ offsets: Range<Int64>) -> [PolicyLog.PolicyRecord] {
      offsets.map { PolicyLog.PolicyRecord(partition: 0, offset: $0, text: "") }
    }
    var trail = PolicyLog.PolicyTrail()
    trail.add(records(0..<150))
    trail.add(records(150..<200))
    #expect(trail.isComplete && trail.records.map(\.offset) == Array((0..<200).reversed()))
    trail.add(records(200..<203))
    #expect(!trail.isComplete && trail.records.map(\.offset) == Array((3..<203).reversed()))
    trail.add([])
    #expect(!trail.isComplete && trail.records.count == PolicyLog.PolicyTrail.recordsMax)
  }
}
