import Testing

@testable import Benchmarks

@Suite("The embedded broker of the benchmarks")
struct EmbeddedBrokerTests {
  @Test(
    "a load gets as many partitions as its records and bytes need",
    arguments: [
      (nil, 1, 1, 1), (nil, 160_000, 1, 3), (nil, 1, 7_000_000, 3), (5, 160_000, 1, 5), (3, 160_000, 1, 3),
    ] as [(Int?, Int, Int, Int)])
  func partitions(_ wanted: Int?, _ records: Int, _ bytes: Int, _ expected: Int) throws {
    #expect(try EmbeddedBrokerCapacity.partitions(wanted: wanted, records: records, bytes: bytes) == expected)
  }

  @Test("a load that exceeds the broker's memory is refused with advice")
  func tooLarge() {
    #expect {
      try EmbeddedBrokerCapacity.partitions(wanted: 2, records: 160_000, bytes: 1)
    } throws: { error in
      "\(error)".contains("so this load needs --partitions 3 or more")
    }
    #expect {
      try EmbeddedBrokerCapacity.partitions(wanted: nil, records: 100_000_000, bytes: 1)
    } throws: { error in
      "\(error)".contains("name a real one with --bootstrap")
    }
  }

  @Test("a request names a topic and its partitions", arguments: ["", "events", "events many", "events 0", "a b 3"])
  func wrongRequest(_ line: String) throws {
    #expect(throws: BenchmarkError.self) { try BrokerService.TopicRequest(line) }
    let request = try BrokerService.TopicRequest("events 3")
    #expect(request.topic == "events")
    #expect(request.partitions == 3)
  }

  @Test("the service prints its address, creates topics and ends with its input")
  func service() throws {
    var requests = ["events 2", "flights 1"]
    var answers: [String] = []
    try BrokerService.run(
      read: { requests.isEmpty ? nil : requests.removeFirst() }, write: { answers.append($0) })
    #expect(answers.count == 3)
    #expect(answers.first?.contains(":") == true)
    #expect(answers.dropFirst() == ["ok", "ok"])
  }
}
