import KafkaClient

/// The requests whose records librdkafka has. A plain value of the producer's thread.
///
/// The tag of a record is the number of its request in the upper 32 bits, and its index in the request in the lower ones.
struct PendingRequests {
  /// A request of which every record is reported.
  struct Finished {
    var submission: RecordProducer.Submission
    var outcome: RecordProducer.Outcome

    init(_ submission: RecordProducer.Submission, _ outcome: RecordProducer.Outcome) {
      self.submission = submission
      self.outcome = outcome
    }
  }

  private struct OpenRequest {
    var submission: RecordProducer.Submission
    /// The places of the records; the offset is -1 until a record is acknowledged.
    var places: [Receipt.WrittenPlace]
    /// The number of records without a report.
    var left: Int
    var error: KafkaError?

    var finished: Finished? {
      guard left == 0 else { return nil }
      guard let error else { return Finished(submission, .acknowledged(places)) }
      return Finished(submission, .failed(acknowledged: places.count { $0.offset >= 0 }, error))
    }
  }

  private var requests: [UInt32: OpenRequest] = [:]
  private var next: UInt32 = 0

  /// Whether every request is finished.
  var isEmpty: Bool { requests.isEmpty }

  /// Begins a request.
  ///
  /// - Returns: The tag of its first record. The others follow one by one.
  mutating func begin(_ submission: RecordProducer.Submission) -> UInt64 {
    let number = next
    next &+= 1
    let none = Receipt.WrittenPlace(partition: -1, offset: -1)
    requests[number] = OpenRequest(
      submission: submission, places: Array(repeating: none, count: submission.records.count),
      left: submission.records.count)
    return UInt64(number) << 32
  }

  /// Notes that a record, and those after it, were not handed over.
  ///
  /// - Returns: The request, if no record of it is under way.
  mutating func stopped(_ first: UInt64, at index: Int, _ error: KafkaError) -> Finished? {
    report(first) { pending in
      pending.left -= pending.places.count - index
      pending.error = error
    }
  }

  /// Notes that a record was acknowledged.
  ///
  /// - Returns: The request, if this was the last report.
  mutating func took(_ delivery: KafkaDelivery) -> Finished? {
    report(delivery.tag) { pending in
      pending.left -= 1
      pending.places[Int(delivery.tag & 0xffff_ffff)] =
        Receipt.WrittenPlace(partition: delivery.partition, offset: delivery.offset)
    }
  }

  /// Notes that a record was given up.
  ///
  /// - Returns: The request, if this was the last report.
  mutating func took(_ failure: KafkaDeliveryFailure) -> Finished? {
    report(failure.tag) { pending in
      pending.left -= 1
      pending.error = pending.error ?? failure.error
    }
  }

  /// Ends all requests.
  mutating func failAll(_ error: KafkaError) -> [Finished] {
    defer { requests = [:] }
    return requests.values.map { pending in
      Finished(pending.submission, .failed(acknowledged: pending.places.count { $0.offset >= 0 }, error))
    }
  }

  private mutating func report(_ tag: UInt64, _ change: (inout OpenRequest) -> Void) -> Finished? {
    let number = UInt32(truncatingIfNeeded: tag >> 32)
    guard var pending = requests.removeValue(forKey: number) else { return nil }
    change(&pending)
    if let finished = pending.finished { return finished }
    requests[number] = pending
    return nil
  }
}
