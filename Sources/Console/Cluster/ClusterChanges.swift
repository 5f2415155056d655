import Domain
import Installation
import KafkaClient
import Logging
import Operating
import Policies
import Serving

/// The changes that operators make, from a page or by `/v1`. Routes that call them have `usesCluster` and the role `operator`: one thread makes
/// all changes of a console, so that no two are made at a time.
extension ConsoleContext {
  /// Puts a policy into force, in the name of the viewer.
  ///
  /// - Parameters:
  ///   - document: The policy.
  ///   - viewer: The one who applies it.
  ///   - isTrial: Whether everything is done but the change.
  ///   - condition: The policy that must be in force; nil for any, or none. Another console, or the command line, may still apply one in the
  ///     moment between the look and the change.
  /// - Throws: `Problem` if it cannot be recorded, if another policy is in force, or if the brokers did not confirm it.
  func apply(
    _ document: PolicyDocument, by viewer: Viewer, isTrial: Bool = false, if condition: PolicyCondition? = nil
  ) throws {
    let reference = document.policy.reference
    subject = "\(reference.version) \(reference.hash)\(isTrial ? " dryRun" : "")"
    try access.check()
    let cluster = settings.cluster
    let words: Logger.Metadata = [
      "version": "\(reference.version)", "hash": "\(reference.hash)", "key": "\(viewer.key ?? "none")",
    ]
    var isBegun = false
    do {
      try ClusterCall.run(
        cluster, needing: cluster.topics.log, failure: "Kafka did not confirm the policy on every log partition"
      ) {
        try condition?.check(PolicyLog(settings: cluster).newest())
        guard !isTrial else { return }
        isBegun = true
        try PolicyAppender(settings: cluster).apply(document, by: viewer.key)
      }
    } catch {
      if isBegun {
        // Some partitions may have it, so pages must not go on with what they knew.
        watch.forgetPolicy()
        policies.forget()
        logger.warning(
          "a policy was not confirmed by every log partition; some may decide by it",
          metadata: words.merging(["error": "\(error)"]) { $1 })
      }
      throw error
    }
    guard !isTrial else { return }
    logger.notice("a policy was applied", metadata: words)
    watch.forgetPolicy()
    policies.forget()
  }

  /// Writes the record of a dead letter back to its topic.
  ///
  /// - Parameters:
  ///   - place: The place of the letter.
  ///   - viewer: The one who has it replayed.
  /// - Returns: The letter, and what became of it.
  /// - Throws: `Problem` if it cannot be recorded, if there is no such letter, or if the brokers did not do it.
  func replay(_ place: KafkaPosition, by viewer: Viewer) throws -> (letter: DeadLetterRecord, report: ReplayReport) {
    subject = "\(place)"
    try access.check()
    let letter = try letter(at: place)
    let report = try deadLetters { try $0.replay([letter]) }
    if !report.replayed.isEmpty {
      logger.notice(
        "a dead letter was replayed", metadata: ["place": "\(place)", "key": "\(viewer.key ?? "none")"])
    }
    watch.forget()
    return (letter, report)
  }

  /// Writes the records of the newest dead letters with a reason back to their topics. Letters that must not be replayed are left out.
  ///
  /// - Parameters:
  ///   - reason: The reason code.
  ///   - limit: The most letters.
  ///   - start: The place at which an earlier part ended; nil for the newest.
  ///   - viewer: The one who has them replayed.
  /// - Returns: The outcome, and the place of older letters with the reason that may wait; nil if there are none.
  /// - Throws: `Problem` if it cannot be recorded, or if the brokers did not do it.
  func replay(
    reason: String, limit: Int, from start: DeadLetterCursor? = nil, by viewer: Viewer
  ) throws -> (report: ReplayReport, next: DeadLetterCursor?) {
    subject = "\(reason) limit=\(limit)"
    try access.check()
    defer { watch.forget() }
    return try deadLetters { queue in
      let page = try queue.page(limit, reason: reason, waiting: true, from: start)
      guard !page.letters.isEmpty else { return (ReplayReport(), page.next) }
      let report = try queue.replay(page.letters.reversed(), skipsRefused: true)
      if !report.replayed.isEmpty {
        logger.notice(
          "dead letters were replayed",
          metadata: ["reason": "\(reason)", "letters": "\(report.replayed.count)", "key": "\(viewer.key ?? "none")"])
      }
      return (report, page.next)
    }
  }

  /// Returns a dead letter.
  ///
  /// - Parameter place: Its place.
  /// - Throws: `Problem` if there is none.
  func letter(at place: KafkaPosition) throws -> DeadLetterRecord {
    try deadLetters { queue in
      do throws(KafkaError) { return try queue.letter(at: place) } catch {
        guard error.code == .noOffset || error.code == .unknownPartition else { throw error }
        throw Problem(.notFound, "there is no letter at \(place); it may have been removed by the topic's retention")
      }
    }
  }

  /// Runs a call on the dead letters.
  ///
  /// - Parameter body: The call.
  /// - Throws: `Problem` if the brokers do not answer.
  func deadLetters<Value>(_ body: (DeadLetterQueue) throws -> Value) throws -> Value {
    let cluster = settings.cluster
    return try ClusterCall.run(cluster, needing: cluster.topics.deadLetters) {
      try body(DeadLetterQueue(settings: cluster, patience: .seconds(10)))
    }
  }
}

/// Calls of the cluster on behalf of a request.
enum ClusterCall {
  /// The longest wait for a broker to answer at all.
  /// - Beyond: the request is answered with 503.
  private static let answerTimeMax = Duration.seconds(4)

  /// Runs a call, if a broker answers and a topic exists.
  ///
  /// - Parameters:
  ///   - settings: The cluster.
  ///   - topic: The topic that the call needs.
  ///   - failure: The words for a call that failed.
  ///   - body: The call.
  /// - Throws: `Problem` that says what to do.
  static func run<Value>(
    _ settings: ClusterSettings, needing topic: String, failure: String = "Kafka did not do it",
    _ body: () throws -> Value
  ) throws -> Value {
    do {
      // Asked first, because the calls themselves wait much longer for brokers that are away.
      _ = try KafkaAdmin(settings.kafka).describeTopics([topic], timeout: answerTimeMax)
      return try body()
    } catch let error as KafkaError {
      let advice =
        error.code == .topicAuthorizationFailed || error.code == .groupAuthorizationFailed
        ? "rouse topics acls --role console lists the permissions that it needs"
        : "check kafka.bootstrapServers, and that the brokers run"
      throw Problem(
        .unavailable,
        "\(failure): \(error.operation) failed: \(error.message) (\(error.code.name)); \(advice)",
        retryAfterSeconds: 5)
    }
  }
}
