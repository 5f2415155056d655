import Foundation
public import Installation
import KafkaClient

/// Checks whether a broker has the properties that Rouse relies on. Creates its own topics and deletes them at the end, if the
/// broker can.
public final class Conformance {
  let settings: ClusterSettings
  /// The prefix of the topics, groups and transactional ids of this run.
  let prefix: String
  /// The names of the topics that this run has created.
  var made: Set<String> = []
  /// The longest wait for one answer of the broker.
  static let patience = Duration.seconds(20)
  /// The longest wait for the creation of topics. A broker that knows the request answers at once; the embedded one
  /// never answers.
  static let makingPatience = Duration.seconds(5)
  /// The longest wait for the broker's cleaner, which looks every 15 s by default (`log.cleaner.backoff.ms`).
  static let cleanerPatience = Duration.seconds(60)

  /// Makes a run.
  ///
  /// - Parameter settings: The address of the broker. Topics are made under its prefix, groups and transactional ids under
  ///   its group.
  public init(settings: ClusterSettings) {
    self.settings = settings
    prefix = "\(settings.topics.prefix)conformance-\(UInt32.random(in: 0 ... .max))-"
  }

  /// Runs every check. Takes some seconds, up to a minute for compaction, and more if the broker does not answer.
  ///
  /// - Parameter report: Gets each finding as it comes.
  /// - Returns: All findings.
  public func run(_ report: (ConformanceFinding) -> Void) -> [ConformanceFinding] {
    var findings: [ConformanceFinding] = []
    func check(_ name: String, needed: Bool = true, _ body: () throws(KafkaError) -> ConformanceVerdict) {
      let verdict: ConformanceVerdict
      do throws(KafkaError) { verdict = try body() } catch {
        verdict = error.code.isUnsupported ? .notSupported("\(error)") : .fail("\(error)")
      }
      let finding = ConformanceFinding(name: name, isNeeded: needed, verdict)
      findings.append(finding)
      report(finding)
    }
    check("topics are made with settings", needed: false) { () throws(KafkaError) in try makeTopics() }
    check("compaction is configured") { () throws(KafkaError) in try compaction() }
    let unwatched = beginCompaction()
    check("the broker's clock stamps the log") { () throws(KafkaError) in try appendTime() }
    check("records keep order, key, headers and emptiness") { () throws(KafkaError) in try order() }
    check("records of 3.9 MB pass where they are allowed") { () throws(KafkaError) in try size() }
    check("committed records are seen, open and aborted ones are not") { () throws(KafkaError) in try isolation() }
    check("offsets of a transaction are kept, those of an aborted one are not") { () throws(KafkaError) in
      try offsets()
    }
    check("stable offsets are not told while a transaction holds some") { () throws(KafkaError) in try stableOffsets() }
    check("a producer whose id was taken over is fenced") { () throws(KafkaError) in try fencing() }
    check("offsets of a member that left are refused") { () throws(KafkaError) in try membership() }
    // Last, as it may take longer than all others.
    check("what is superseded is removed", needed: false) { () throws(KafkaError) in
      if let unwatched { return .notSupported("no topic with short segments could be made to see it: \(unwatched)") }
      return try watchCompaction()
    }
    clean()
    return findings
  }

  /// Deletes the topics that the checks created, if the broker can. Topics that the broker created by itself stay.
  private func clean() {
    guard !made.isEmpty else { return }
    // Topics that cannot be deleted do no harm: their names begin with the prefix.
    _ = try? admin().deleteTopics(made.sorted(), timeout: Self.patience)
  }

  // MARK: Clients

  /// Makes an idempotent producer.
  func producer(_ more: KeyValuePairs<String, String> = [:]) throws(KafkaError) -> KafkaProducer {
    try KafkaProducer(
      settings.client(["enable.idempotence": "true"]).merging(KafkaConfiguration(more.map { ($0.key, $0.value) })))
  }

  /// Makes a transactional producer that is ready to begin.
  func transactional(_ name: String) throws(KafkaError) -> KafkaProducer {
    let producer = try KafkaProducer(
      settings.client([
        "transactional.id": "\(settings.group)-\(prefix)\(name)", "enable.idempotence": "true",
        "transaction.timeout.ms": "30000",
      ]))
    try retrying { () throws(KafkaError) in try producer.initTransactions(timeout: Self.patience) }
    return producer
  }

  /// Makes a consumer of committed records in a group of its own.
  func consumer(_ name: String) throws(KafkaError) -> KafkaConsumer {
    try KafkaConsumer(
      settings.client([
        "group.id": "\(settings.group)-\(prefix)\(name)", "isolation.level": "read_committed",
        "enable.auto.commit": "false", "auto.offset.reset": "earliest",
      ]))
  }

  /// Waits until the broker has confirmed every record of a producer. Throws if one failed, or after 20 s.
  func deliver(_ producer: KafkaProducer) throws(KafkaError) {
    let all = try producer.flush(timeout: Self.patience)
    if let error = producer.takeDeliveryFailures().first?.error { throw error }
    guard all else {
      throw KafkaError(code: .timedOut, message: "no confirmation in 20 s", operation: "writing a record")
    }
  }

  /// Reads all committed records of a topic.
  func read(_ topic: String) throws(KafkaError) -> [KafkaMessage] {
    var messages: [KafkaMessage] = []
    _ = try TopicReader(settings: settings, patience: Self.patience).read(topic) { messages.append($0) }
    return messages
  }

  /// Makes a client for questions about topics.
  func admin() throws(KafkaError) -> KafkaAdmin { try KafkaAdmin(settings.client([:])) }
}

extension KafkaErrorCode {
  /// Whether the broker is too old for the request, or does not know it.
  fileprivate var isUnsupported: Bool { self == .unsupportedVersion || self == .unsupportedFeature }
}

/// The result of one check of a broker.
public struct ConformanceFinding: Equatable, Sendable {
  /// The possible results of a check.
  public enum Outcome: String, Sendable, CaseIterable {
    /// The broker does what Rouse relies on.
    case pass
    /// The broker does something else.
    case fail
    /// The broker does not know the request, or a check could not be made without it. `isNeeded` says whether Rouse
    /// works without it.
    case notSupported = "not supported"
  }

  /// The property of the broker that was checked, as a short sentence.
  public var name: String
  /// The result.
  public var outcome: Outcome
  /// Whether Rouse's guarantees need the property.
  public var isNeeded: Bool
  /// A sentence that says what was seen, and what follows from it; empty after a pass.
  public var detail: String

  /// Makes the finding of a check.
  ///
  /// - Parameters:
  ///   - name: The property of the broker that was checked.
  ///   - isNeeded: Whether Rouse's guarantees need the property.
  ///   - verdict: The answer of the check.
  init(name: String, isNeeded: Bool, _ verdict: ConformanceVerdict) {
    self.name = name
    self.isNeeded = isNeeded
    switch verdict {
    case .pass: (outcome, detail) = (.pass, "")
    case .fail(let text): (outcome, detail) = (.fail, text)
    case .notSupported(let text): (outcome, detail) = (.notSupported, text)
    }
  }
}

/// The answer of one check.
enum ConformanceVerdict {
  case pass
  case fail(String)
  case notSupported(String)
}
