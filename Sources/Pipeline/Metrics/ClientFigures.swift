import JSON

/// The figures of one Kafka client that metrics show, from one document of librdkafka's statistics.
struct ClientFigures: Equatable {
  var queuedRecords = 0.0
  var queuedBytes = 0.0
  var requestsWaiting = 0.0
  var brokersConnected = 0.0
  /// The sum of the times from requests to answers in the last interval, in seconds.
  var roundTripSum = 0.0
  /// The number of these answers.
  var roundTripCount = 0.0
  /// The largest 99th percentile of these times of any broker, in seconds.
  var roundTripP99 = 0.0
  /// The totals since the client was made.
  var totals = Totals()

  /// Totals that only grow while the client lives.
  struct Totals: Equatable {
    var transmitErrors = 0.0
    var receiveErrors = 0.0
    var requestTimeouts = 0.0
    var disconnects = 0.0
  }

  /// Makes the figures of a client of which nothing is known.
  init() {}

  /// Reads the figures. A member that another version of librdkafka does not write counts as 0.
  ///
  /// - Parameter json: A document of the statistics.
  /// - Throws: `JSONError` if it is no JSON.
  init(json: [UInt8]) throws(JSONError) {
    // A reader keeps the memory of its largest document, and the next document comes after seconds.
    self = try JSONReader(bytesMax: Self.bytesMax).read(json) { root throws(JSONError) in ClientFigures(root) }
  }

  /// The largest document that is read. A client writes about 1.5 KB for each partition that it knows.
  /// - Beyond: the metrics keep the figures of the last document.
  static let bytesMax = 1 << 26

  private init(_ root: JSONNode) {
    func number(_ node: JSONNode?, _ key: StaticString) -> Double { max(0, node?[key]?.numberIfAny ?? 0) }
    queuedRecords = number(root, "msg_cnt")
    queuedBytes = number(root, "msg_size")
    for topic in root["topics"]?.members.map(\.value) ?? [] {
      for partition in topic["partitions"]?.members.map(\.value) ?? [] {
        queuedRecords += number(partition, "fetchq_cnt")
        queuedBytes += number(partition, "fetchq_size")
      }
    }
    for broker in root["brokers"]?.members.map(\.value) ?? [] {
      requestsWaiting += number(broker, "outbuf_cnt") + number(broker, "waitresp_cnt")
      totals.transmitErrors += number(broker, "txerrs")
      totals.receiveErrors += number(broker, "rxerrs")
      totals.requestTimeouts += number(broker, "req_timeouts")
      totals.disconnects += number(broker, "disconnects")
      // The addresses to ask first and the group's coordinator are connections of their own to brokers that are listed, too.
      let isListed = (broker["nodeid"]?.numberIfAny ?? -1) >= 0
      if isListed, broker["state"]?.equals("UP") == true { brokersConnected += 1 }
      let (times, count) = (broker["rtt"], number(broker["rtt"], "cnt"))
      roundTripSum += number(times, "avg") * count / 1_000_000
      roundTripCount += count
      if count > 0 { roundTripP99 = max(roundTripP99, number(times, "p99") / 1_000_000) }
    }
  }
}
