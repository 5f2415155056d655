import Domain
import Foundation
import KafkaClient
public import Keys
public import Serving
import Synchronization

/// The HTTP gateway: takes events, registrations and signals, checks them as intake does, and answers when a broker has acknowledged
/// them. May be used from any thread.
///
///     head ──► route ──► who ──► role ──► rate ──► content type ──► body ──► (device) ──► records ──► Kafka ──► 202
///              404,405   401     403      429      415              413      403,404,412  400,403     503
///
/// Everything before Kafka happens on the server's event loops and does not block, but for the look at the registration in force, which has
/// threads of its own.
public final class GatewayService: HTTPService {
  private let settings: GatewaySettings
  private let access: Authenticator?
  private let producer: RecordProducer
  private let lookup: DeviceLookup?
  private let accessRecords: AccessRecordWriter?
  private let metrics: GatewayMetrics
  private let validators: RecordValidators
  private let now: @Sendable () -> Timestamp

  /// The header of a record that says who sent it: the id of the key, or the subject of the token. Nothing in Rouse reads it.
  static let sentByHeader = "rouse-sent-by"
  /// The time after which a client is to try again when the brokers were too slow, or the producer starts, in seconds.
  private static let retrySeconds = 5

  /// Makes the service of a gateway.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - access: The keys and tokens; nil if everybody who reaches the gateway may do everything.
  ///   - devices: The registrations in force; nil if the gateway does not know them.
  ///   - producer: The producer.
  ///   - metrics: The metrics.
  public convenience init(
    _ settings: GatewaySettings, access: Authenticator?, devices: (any RegisteredDevices)? = nil,
    _ producer: RecordProducer,
    _ metrics: GatewayMetrics
  ) {
    self.init(settings, access: access, devices: devices, accessRecords: nil, producer, metrics)
  }

  /// Makes the service of a gateway that keeps access records.
  convenience init(
    _ settings: GatewaySettings, access: Authenticator?, devices: (any RegisteredDevices)?,
    accessRecords: AccessRecordWriter?,
    _ producer: RecordProducer, _ metrics: GatewayMetrics
  ) {
    self.init(settings, access: access, devices: devices, accessRecords: accessRecords, producer, metrics) {
      Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
  }

  /// Makes a gateway with a clock.
  init(
    _ settings: GatewaySettings, access: Authenticator?, devices: (any RegisteredDevices)?,
    accessRecords: AccessRecordWriter?,
    _ producer: RecordProducer, _ metrics: GatewayMetrics, now: @escaping @Sendable () -> Timestamp
  ) {
    self.settings = settings
    self.access = access
    self.producer = producer
    lookup = devices.map { DeviceLookup($0) }
    self.accessRecords = accessRecords
    self.metrics = metrics
    self.now = now
    validators = RecordValidators(
      settings.topics, bodyBytesMax: settings.limits.bodyBytesMax, count: settings.limits.threads)
  }

  /// Looks at the head of a request.
  public func admit(_ head: HTTPHead) -> HTTPAdmission {
    var operation: GatewayOperation?
    do throws(Problem) {
      if access == nil { try head.requireOwnHost() }
      let route = try GatewayRoute(method: head.method, path: head.path)
      operation = route.operation
      let principal = try principal(head, route.operation)
      try require(route.operation, of: principal, head)
      if let principal, let seconds = principal.bucket?.secondsUntilAdmitted() {
        throw Problem(
          .tooManyRecords, "the \(principal.credential) has sent more records than it may; try again in \(seconds) s",
          retryAfterSeconds: seconds)
      }
      let mode = try Self.mode(route.operation, head)
      let device = try deviceRequest(route, head, principal)
      return .taken { [self] body, answer in take(head, route, mode, principal, device, body, answer) }
    } catch {
      metrics.answered(operation, status: error.kind.status)
      return .refused(error.answer)
    }
  }

  /// Returns the answer to a request that the server cannot take.
  public func answer(to fault: HTTPFault, of head: HTTPHead?) -> HTTPAnswer {
    let problem = Problem(fault, settings.limits)
    metrics.answered(nil, status: problem.kind.status)
    return problem.answer
  }

  // MARK: Principals

  private func principal(_ head: HTTPHead, _ operation: GatewayOperation) throws(Problem) -> Principal? {
    do throws(CredentialRefusal) {
      return try access?.principal(authorization: head.header("authorization"), now: now())
    } catch {
      let cause = error.cause == .noCredential ? "noKey" : error.cause.rawValue
      note(cause, error.name, operation, error.problem, head)
      throw error.problem
    }
  }

  private func require(_ operation: GatewayOperation, of principal: Principal?, _ head: HTTPHead) throws(Problem) {
    guard let principal, principal.roles.isDisjoint(with: operation.roles) else { return }
    let problem = principal.refusal(needing: operation.roles)
    note("missingRole", principal.name, operation, problem, head)
    throw problem
  }

  /// Notes an attempt that was refused because of who sent it.
  private func note(
    _ cause: String, _ key: String?, _ operation: GatewayOperation, _ problem: Problem, _ head: HTTPHead
  ) {
    accessRecords?.note(
      RefusedAttempt(
        at: now(), cause: cause, key: key, operation: operation.rawValue, status: problem.kind.status,
        client: head.remote))
  }

  /// Returns the apps about whose devices an operation may write; none if it may write about those of any app.
  ///
  /// The device is looked up before signals are read. So a token that may register and report may send signals only about devices of
  /// apps that both roles allow.
  private static func apps(of principal: Principal, for operation: GatewayOperation) -> [String] {
    let bounds = operation.roles.map { principal.grants(of: $0) }
      .filter { !$0.isEmpty && !$0.contains { $0.apps.isEmpty } }.map { Set($0.flatMap(\.apps)) }
    guard let first = bounds.first else { return [] }
    let allowed = bounds.dropFirst().reduce(first) { $0.intersection($1) }
    // No app has an empty id.
    return allowed.isEmpty ? [""] : allowed.sorted()
  }

  private static func mode(_ operation: GatewayOperation, _ head: HTTPHead) throws(Problem) -> EventBinding.ContentMode?
  {
    switch operation {
    case .publishEvents, .publishSignals: return try EventBinding.mode(head)
    case .putDevice:
      let mediaType = (head.header("content-type") ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
      guard mediaType == "application/json" else {
        throw Problem(.unsupportedMediaType, "expected application/json with a registration")
      }
      return nil
    case .getDevice, .deleteDevice: return nil
    }
  }

  /// Returns the look at the registration in force that a request needs; nil if it needs none.
  private func deviceRequest(
    _ route: GatewayRoute, _ head: HTTPHead, _ principal: Principal?
  ) throws(Problem) -> DeviceLookup.DeviceRequest? {
    guard let device = route.device else { return nil }
    let (ifMatch, ifNoneMatch) = (head.list("if-match"), head.list("if-none-match"))
    guard lookup != nil else {
      guard route.operation != .getDevice else {
        throw Problem(
          .notFound,
          "this gateway does not know what is registered; its operator can have it read that with gateway.devicesView")
      }
      guard ifMatch == nil, ifNoneMatch == nil else {
        let header = ifMatch == nil ? "If-None-Match" : "If-Match"
        throw Problem(
          .preconditionFailed,
          "this gateway does not know what is registered (gateway.devicesView), so it cannot check \(header)")
      }
      return nil
    }
    let request = DeviceLookup.DeviceRequest(
      operation: route.operation, device: device, apps: principal.map { Self.apps(of: $0, for: route.operation) } ?? [],
      ifMatch: ifMatch,
      ifNoneMatch: ifNoneMatch)
    return request.needsLookup ? request : nil
  }

  // MARK: Records

  private func take(
    _ head: HTTPHead, _ route: GatewayRoute, _ mode: EventBinding.ContentMode?, _ principal: Principal?,
    _ device: DeviceLookup.DeviceRequest?, _ body: [UInt8], _ answer: @escaping @Sendable (HTTPAnswer) -> Void
  ) {
    let reply: @Sendable (HTTPAnswer) -> Void = { [metrics] reply in
      metrics.answered(route.operation, status: reply.status, bodyBytes: body.count)
      answer(reply)
    }
    let request = RecordValidator.Request(route: route, mode: mode, body: body, principal: principal, now: now())
    guard let lookup, let device else { return write(head, request, reply) }
    lookup.look(device) { [self] result in
      switch result {
      case .success(nil): write(head, request, reply)
      case .success(let answer?):
        principal?.bucket?.take(1)
        reply(answer)
      case .failure(let problem): refuse(head, request, problem, reply)
      }
    }
  }

  private func refuse(
    _ head: HTTPHead, _ request: RecordValidator.Request, _ problem: Problem,
    _ reply: @escaping @Sendable (HTTPAnswer) -> Void
  ) {
    // Otherwise a client could send refused requests without end.
    request.principal?.bucket?.take(1)
    if problem.kind == .forbidden {
      let cause = request.route.device == nil ? "otherSource" : "otherApp"
      note(cause, request.principal?.name, request.route.operation, problem, head)
    }
    reply(problem.answer)
  }

  /// Checks the records of a request, and writes them.
  private func write(
    _ head: HTTPHead, _ request: RecordValidator.Request, _ reply: @escaping @Sendable (HTTPAnswer) -> Void
  ) {
    switch validators.records(request) {
    case .failure(let problem): refuse(head, request, problem, reply)
    case .success(let records):
      request.principal?.bucket?.take(records.count)
      let signed = Self.sign(records, request.principal)
      guard let accessRecords, let change = Self.change(head, request) else { return submit(signed, reply) }
      accessRecords.record(change) { [self] refusal in
        if let refusal { return reply(refusal.answer) }
        submit(signed) { answer in
          if answer.status != change.status {
            var failed = change
            failed.status = answer.status
            // The change has its record; this one only says that it failed, so the answer does not wait for it.
            accessRecords.record(failed) { _ in }
          }
          reply(answer)
        }
      }
    }
  }

  /// Returns records with the header that says who sent them.
  private static func sign(_ records: [KafkaRecord], _ principal: Principal?) -> [KafkaRecord] {
    guard let principal else { return records }
    let sender = KafkaHeader(sentByHeader, Array(principal.name.utf8))
    return records.map { record in
      var record = record
      record.headers.append(sender)
      return record
    }
  }

  /// Returns the record of a change of a device, as it is written before the change; nil if the request is none.
  private static func change(_ head: HTTPHead, _ request: RecordValidator.Request) -> RecordedChange? {
    let operation = request.route.operation
    guard operation == .putDevice || operation == .deleteDevice, let device = request.route.device else { return nil }
    return RecordedChange(
      at: request.now, key: request.principal?.name, operation: operation.rawValue, device: device, status: 202,
      client: head.remote)
  }

  private func submit(_ records: [KafkaRecord], _ reply: @escaping @Sendable (HTTPAnswer) -> Void) {
    let (count, topic) = (records.count, records.first?.topic ?? settings.topics.events)
    producer.submit(records) { [self] outcome in reply(answer(to: outcome, count, topic)) }
  }

  private func answer(to outcome: RecordProducer.Outcome, _ count: Int, _ topic: String) -> HTTPAnswer {
    switch outcome {
    case .acknowledged(let places): return Receipt(topic: topic, places: places).answer
    case .failed(_, let error) where error.code == .messageTooLarge:
      return Problem(.tooLarge, "the brokers refuse a record of this size").answer
    case .failed(let acknowledged, let error):
      let words =
        "the brokers acknowledged \(acknowledged) of \(count) records (\(error.code.name)); send the request again, a repeat does no harm"
      return Problem(.unavailable, words, retryAfterSeconds: Self.retrySeconds).answer
    case .full:
      return Problem(
        .unavailable, "too many records wait for the brokers; nothing was written, try again", retryAfterSeconds: 1
      ).answer
    case .closed:
      return Problem(
        .unavailable, "the gateway starts or ends; nothing was written, try again",
        retryAfterSeconds: Self.retrySeconds
      ).answer
    }
  }
}
