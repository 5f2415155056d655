import Domain
import Foundation
import JSON
import KafkaClient
import Keys
import Serving
import Synchronization

/// Checks the records of requests with the decoder of intake, and makes them ready for Kafka. Used by one thread at a time.
final class RecordValidator {
  /// A request with its body.
  struct Request: Sendable {
    /// The operation and the device.
    var route: GatewayRoute
    /// The content mode; nil for an operation on a device.
    var mode: EventBinding.ContentMode?
    var body: [UInt8]
    /// The sender; nil if the gateway asks for none.
    var principal: Principal?
    /// The wall clock.
    var now: Timestamp
  }

  private let topics: GatewayTopics
  private let decoder = PublicRecordDecoder()
  private let partitionKeys = PartitionKeyReader()
  private let reader: JSONReader

  /// The levels of nesting that a batch adds to those of an event.
  private static let batchLevels = 1

  /// Makes a validator.
  ///
  /// - Parameters:
  ///   - topics: The topics to write to.
  ///   - bodyBytesMax: The largest size of a body.
  init(_ topics: GatewayTopics, bodyBytesMax: Int) {
    self.topics = topics
    reader = JSONReader(bytesMax: bodyBytesMax, nestingMax: DomainBounds.nestingMax + Self.batchLevels)
  }

  /// Checks a request.
  ///
  /// - Parameter request: The request.
  /// - Returns: The records to write, in order.
  /// - Throws: `Problem` with every record that is refused.
  func records(_ request: Request) throws(Problem) -> [KafkaRecord] {
    let device = request.route.device.map { Array($0.utf8) }
    switch request.route.operation {
    case .putDevice:
      return [try registration(CloudEventRecord(key: device, value: request.body, timestamp: request.now), request)]
    case .getDevice: return []
    case .deleteDevice:
      return [try registration(CloudEventRecord(key: device, value: nil, timestamp: request.now), request)]
    case .publishEvents:
      return try events(request, key: nil, topic: topics.events) { (record, isBinary) throws(Refusal) in
        try event(record, isBinary, request)
      }
    case .publishSignals:
      return try events(request, key: device, topic: topics.signals) { (record, isBinary) throws(Refusal) in
        try signal(record, isBinary, request)
      }
    }
  }

  /// The reason why one record is refused.
  private enum Refusal: Error {
    case refused(DomainError)
    case forbidden(Problem.Mistake)
  }

  private func registration(_ record: CloudEventRecord, _ request: Request) throws(Problem) -> KafkaRecord {
    let content: LogRecord.Content
    do throws(DomainError) { content = try decoder.decode(record, from: .devices, now: request.now) } catch {
      throw Self.problem(refused: [.init(error)], of: 1, isBatch: false)
    }
    if case .registration(let registration) = content, let principal = request.principal,
      !principal.grants(of: .registrar).contains(where: { $0.allows(app: registration.app) })
    {
      let mistake = Problem.Mistake(
        pointer: "/app", detail: "expected an app of the \(principal.credential), found \"\(registration.app)\"")
      throw Self.problem(forbidden: [mistake], principal)
    }
    return KafkaRecord(topic: topics.devices, key: record.key, value: record.value)
  }

  private func events(
    _ request: Request, key: [UInt8]?, topic: String,
    _ check: (CloudEventRecord, _ isBinary: Bool) throws(Refusal) -> [UInt8]?
  ) throws(Problem) -> [KafkaRecord] {
    guard let mode = request.mode else { return [] }
    let isBatch = mode == .batched
    let events = try EventBinding.records(mode, request.body, key: key, at: request.now, reader)
    var (records, refused, forbidden): ([KafkaRecord], [Problem.Mistake], [Problem.Mistake]) = ([], [], [])
    records.reserveCapacity(events.count)
    for (index, event) in events.enumerated() {
      do throws(Refusal) {
        let key = try check(event, mode.isBinary)
        records.append(
          KafkaRecord(
            topic: topic, key: key, value: event.value,
            headers: event.headers.map { KafkaHeader($0.name, $0.value) }))
      } catch {
        switch error {
        case .refused(let error):
          refused.append(Problem.Mistake(error, index: isBatch ? index : nil, isBinary: mode.isBinary))
        case .forbidden(var mistake):
          mistake.index = isBatch ? index : nil
          if isBatch { mistake.pointer = mistake.pointer.map { "/\(index)\($0)" } }
          forbidden.append(mistake)
        }
      }
    }
    if !refused.isEmpty { throw Self.problem(refused: refused, of: events.count, isBatch: isBatch) }
    if !forbidden.isEmpty, let principal = request.principal {
      throw Self.problem(forbidden: forbidden, principal)
    }
    return records
  }

  /// Checks an event.
  ///
  /// - Returns: The key of its record: the extension `partitionkey`, else the subject.
  private func event(
    _ record: CloudEventRecord, _ isBinary: Bool, _ request: Request
  ) throws(Refusal) -> [UInt8]? {
    let (content, partitionKey): (LogRecord.Content, String?)
    do throws(DomainError) {
      content = try decoder.decode(record, from: .events, now: request.now)
      partitionKey = try partitionKeys.key(of: record)
    } catch {
      throw .refused(error)
    }
    guard case .event(let event) = content else { return nil }
    if let principal = request.principal {
      func forbid(_ name: String, _ text: String) -> Refusal {
        .forbidden(
          Problem.Mistake(
            pointer: isBinary ? nil : "/\(name)", header: isBinary ? "ce-\(name)" : nil,
            detail: "expected a \(name) of the \(principal.credential), found \"\(text)\""))
      }
      // A source, a type and a subject must be allowed together, by one grant.
      var grants = principal.grants(of: .publisher).filter { $0.allows(source: event.source) }
      if grants.isEmpty { throw forbid("source", event.source.text) }
      grants.removeAll { !$0.allows(type: event.type) }
      if grants.isEmpty { throw forbid("type", event.type.text) }
      if !grants.contains(where: { $0.allows(subject: event.subject) }) { throw forbid("subject", event.subject.text) }
    }
    return Array((partitionKey ?? event.subject.text).utf8)
  }

  /// Checks a signal.
  ///
  /// - Returns: The key of its record.
  private func signal(
    _ record: CloudEventRecord, _ isBinary: Bool, _ request: Request
  ) throws(Refusal) -> [UInt8]? {
    let content: LogRecord.Content
    do throws(DomainError) { content = try decoder.decode(record, from: .signals, now: request.now) } catch {
      throw .refused(error)
    }
    if case .signal(let signal) = content, let principal = request.principal {
      let roles = signal.kind.roles
      if principal.roles.isDisjoint(with: roles) {
        let needed = roles.map(\.rawValue).joined(separator: " or ")
        throw .forbidden(
          Problem.Mistake(
            pointer: isBinary ? nil : "/type", header: isBinary ? "ce-type" : nil,
            detail: "a signal of this type needs a \(principal.credential) with the role \(needed)"))
      }
    }
    return record.key
  }

  private static func problem(refused mistakes: [Problem.Mistake], of count: Int, isBatch: Bool) -> Problem {
    var problem = Problem(
      .recordRefused,
      isBatch
        ? "\(mistakes.count) of \(count) records were refused; none was written" : mistakes.first?.detail ?? "refused")
    problem.mistakes = mistakes
    return problem
  }

  private static func problem(forbidden mistakes: [Problem.Mistake], _ principal: Principal) -> Problem {
    var problem = Problem(
      .forbidden, "the \(principal.credential) does not allow \(mistakes.count) of the records; none was written")
    problem.mistakes = mistakes
    return problem
  }
}

/// As many validators as there are event loops, so that each loop finds one that is free. May be used from any thread.
final class RecordValidators: Sendable {
  private final class LockedValidator: Sendable {
    let validator: Mutex<RecordValidator>

    init(_ topics: GatewayTopics, bodyBytesMax: Int) {
      validator = Mutex(RecordValidator(topics, bodyBytesMax: bodyBytesMax))
    }
  }

  private let slots: [LockedValidator]

  /// Makes the validators.
  ///
  /// - Parameters:
  ///   - topics: The topics to write to.
  ///   - bodyBytesMax: The largest size of a body.
  ///   - count: The number of validators, at least one.
  init(_ topics: GatewayTopics, bodyBytesMax: Int, count: Int) {
    precondition(count > 0, "a gateway needs a validator")
    slots = (0..<count).map { _ in LockedValidator(topics, bodyBytesMax: bodyBytesMax) }
  }

  /// Checks a request, as `RecordValidator.records` does.
  func records(_ request: RecordValidator.Request) -> Result<[KafkaRecord], Problem> {
    func check(_ validator: RecordValidator) -> Result<[KafkaRecord], Problem> {
      do throws(Problem) { return .success(try validator.records(request)) } catch { return .failure(error) }
    }
    for slot in slots {
      if let records = slot.validator.withLockIfAvailable({ check($0) }) { return records }
    }
    return slots[0].validator.withLock { check($0) }
  }
}
