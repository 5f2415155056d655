import Foundation
import JSON
import Observing
import Testing

@testable import Pipeline

@Suite("Statistics of Kafka clients") struct ClientStatisticsTests {
  /// A document as librdkafka 2.0.2 writes it, without the members that nothing reads.
  private static func document(errors: Int = 2, records: Int = 7) -> [UInt8] {
    let text = """
      {"name":"rdkafka#producer-1","type":"producer","msg_cnt":\(records),"msg_size":700,
       "brokers":{
        "b1:9092/1":{"nodeid":1,"state":"UP","outbuf_cnt":1,"waitresp_cnt":2,"txerrs":\(errors),"rxerrs":1,
         "req_timeouts":3,"disconnects":4,"rtt":{"avg":2000,"p99":9000,"cnt":3}},
        "b2:9092/2":{"nodeid":2,"state":"INIT","outbuf_cnt":0,"waitresp_cnt":0,"txerrs":0,"rxerrs":0,
         "req_timeouts":0,"disconnects":1,"rtt":{"avg":4000,"p99":5000,"cnt":1}},
        "GroupCoordinator":{"nodeid":-1,"state":"UP","txerrs":1,"rtt":{"avg":0,"p99":0,"cnt":0}}},
       "topics":{"t":{"partitions":{"0":{"fetchq_cnt":3,"fetchq_size":30},"-1":{"fetchq_cnt":0,"fetchq_size":0}}}}}
      """
    return Array(text.utf8)
  }

  @Test("the figures are sums over brokers and partitions; times are in seconds")
  func figures() throws {
    let figures = try ClientFigures(json: Self.document())
    #expect(figures.queuedRecords == 10 && figures.queuedBytes == 730)
    #expect(figures.requestsWaiting == 3 && figures.brokersConnected == 1)
    #expect(abs(figures.roundTripSum - 0.010) < 1e-12 && figures.roundTripCount == 4 && figures.roundTripP99 == 0.009)
    #expect(figures.totals.transmitErrors == 3 && figures.totals.receiveErrors == 1)
    #expect(figures.totals.requestTimeouts == 3 && figures.totals.disconnects == 5)
  }

  @Test("members of other types, and missing ones, count as nothing")
  func absent() throws {
    #expect(try ClientFigures(json: Array("[]".utf8)) == ClientFigures())
    #expect(try ClientFigures(json: Array(#"{"msg_cnt":"x","brokers":[1],"topics":{"t":3}}"#.utf8)) == ClientFigures())
  }

  @Test("totals grow by what is new, queues are summed by label, and a client that is gone is not shown")
  func clients() {
    let registry = MetricRegistry()
    let metrics = KafkaMetrics(registry)
    let clients = ClientStatistics(metrics)
    var first: (([UInt8]) -> Void)? = clients.sink("planner-producer")
    let second = clients.sink("planner-producer")
    first?(Self.document())
    first?(Self.document(errors: 5, records: 9))
    second(Self.document(errors: 0, records: 1))
    clients.show()
    #expect(metrics.transmitErrors.value(["planner-producer"]) == 6 + 1)
    #expect(metrics.queuedRecords.value(["planner-producer"]) == 12 + 4)
    #expect(metrics.roundTrip.value(["planner-producer", KafkaMetrics.p99]) == 0.009)
    #expect(abs(metrics.roundTrip.value(["planner-producer", KafkaMetrics.mean]) - 0.0025) < 1e-12)
    first = nil
    clients.show()
    #expect(metrics.queuedRecords.value(["planner-producer"]) == 4)
    #expect(metrics.transmitErrors.value(["planner-producer"]) == 7, "a total does not fall")
  }

  @Test("the age of statistics is that of the oldest client with the label, and new ones end it")
  func age() {
    let metrics = KafkaMetrics(MetricRegistry())
    let clients = ClientStatistics(metrics)
    let (silent, polled) = (clients.sink("planner-consumer"), clients.sink("planner-consumer"))
    silent(Self.document())
    let between = ContinuousClock.now
    polled(Self.document())
    clients.show(at: between + .seconds(60))
    #expect(metrics.age.value(["planner-consumer"]) >= 60)
    silent(Self.document())
    clients.show(at: between)
    #expect(metrics.age.value(["planner-consumer"]) <= 0)
  }

  @Test("what is no JSON is counted, and leaves the figures as they are")
  func unreadable() {
    let metrics = KafkaMetrics(MetricRegistry())
    let clients = ClientStatistics(metrics)
    let sink = clients.sink("intake-producer")
    sink(Self.document())
    sink(Array("{".utf8))
    clients.show()
    #expect(metrics.unreadable.value(["intake-producer"]) == 1)
    #expect(metrics.queuedRecords.value(["intake-producer"]) == 10)
  }
}
