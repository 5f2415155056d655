import Domain
import Foundation
import KafkaClient
public import Keys
public import Serving
import Synchronization

/// The HTTP gateway: takes events, registrations and signals, checks them as intake does, and answers when a broker has acknowledged
/// them. May be used from any thread.
///
///     head ──► route ──► key ──► role ──► rate ──► content type ──► body ──► (device) ──► records ──► Kafka ──► 202
///              404,405   401     403      429      415              413      403,404,412  400,403     503
///
/// Everything before Kafka happens on the server's event loops and does not block, but for the look at the registration in force, which has
/// threads of its own.
public final class GatewayService: HTTPService {
  private let settings: GatewaySettings
  private let keys: KeyRing?
  private let producer: RecordProducer
  private let desk: DeviceDesk?
  private let metrics: GatewayMetrics
  private let validators: RecordValidators
  private let now: @Sendable () -> Timestamp

  /// The time after which a client is to try again when the brokers were too slow, or the producer starts, in seconds.
  private static let retrySeconds = 5

  /// Makes the service of a gateway.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - keys: The keys; nil if everybody who reaches the gateway may do everything.
  ///   - devices: The registrations in force; nil if the gateway does not know them.
  ///   - producer: The producer.
  ///   - metrics: The metrics.
  public convenience init(
    _ settings: GatewaySettings, keys: KeyRing?, devices: (any RegisteredDevices)? = nil, _ producer: RecordProducer,
    _ metrics: GatewayMetrics
  ) {
    self.init(settings, keys: keys, devices: devices, producer, metrics) {
      Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
  }

  /// Makes a gateway with a clock.
  init(
    _ settings: GatewaySettings, keys: KeyRing?, devices: (any RegisteredDevices)?, _ producer: RecordProducer,
    _ metrics: GatewayMetrics, now: @escaping @Sendable () -> Timestamp
  ) {
    self.settings = settings
    self.keys = keys
    self.producer = producer
    desk = devices.map { DeviceDesk($0) }
    self.metrics = metrics
    self.now = now
    validators = RecordValidators(
      settings.topics, bodyBytesMax: settings.limits.bodyBytesMax, count: settings.limits.threads)
  }

  /// Looks at the head of a request.
  public func admit(_ head: HTTPHead) -> HTTPAdmission {
    var operation: GatewayOperation?
    do throws(Problem) {
      if keys == nil { try head.requireOwnHost() }
      let route = try GatewayRoute(method: head.method, path: head.path)
      operation = route.operation
      let holder = try holder(head)
      try Self.require(route.operation.role, of: holder)
      if let seconds = holder?.bucket?.secondsUntilAdmitted() {
        throw Problem(
          .tooManyRecords, "the key has sent more records than it may; try again in \(seconds) s",
          retryAfterSeconds: seconds)
      }
      let mode = try Self.mode(route.operation, head)
      let device = try deviceRequest(route, head, holder)
      return .taken { [self] body, answer in take(route, mode, holder, device, body, answer) }
    } catch {
      metrics.answered(operation, status: error.kind.status)
      return .refused(error.answer)
    }
  }

  /// Returns the answer to a request that the server cannot take.
  public func answer(to fault: HTTPFault) -> HTTPAnswer {
    let problem = Problem(fault, settings.limits)
    metrics.answered(nil, status: problem.kind.status)
    return problem.answer
  }

  // MARK: Keys

  private func holder(_ head: HTTPHead) throws(Problem) -> KeyRing.Holder? {
    try keys?.holder(authorization: head.header("authorization"), now: now())
  }

  private static func require(_ role: KeyRole, of holder: KeyRing.Holder?) throws(Problem) {
    guard let key = holder?.key, key.role != role else { return }
    throw Problem(
      .forbidden, "the operation needs a key with the role \(role.rawValue), this one has \(key.role.rawValue)")
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
    _ route: GatewayRoute, _ head: HTTPHead, _ holder: KeyRing.Holder?
  ) throws(Problem) -> DeviceDesk.DeviceRequest? {
    guard let device = route.device else { return nil }
    let (ifMatch, ifNoneMatch) = (head.list("if-match"), head.list("if-none-match"))
    guard desk != nil else {
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
    let request = DeviceDesk.DeviceRequest(
      operation: route.operation, device: device, apps: holder?.key.apps ?? [], ifMatch: ifMatch,
      ifNoneMatch: ifNoneMatch)
    return request.needsLookup ? request : nil
  }

  // MARK: Records

  private func take(
    _ route: GatewayRoute, _ mode: EventBinding.ContentMode?, _ holder: KeyRing.Holder?,
    _ device: DeviceDesk.DeviceRequest?, _ body: [UInt8], _ answer: @escaping @Sendable (HTTPAnswer) -> Void
  ) {
    let reply: @Sendable (HTTPAnswer) -> Void = { [metrics] reply in
      metrics.answered(route.operation, status: reply.status, bodyBytes: body.count)
      answer(reply)
    }
    let request = RecordValidator.Request(route: route, mode: mode, body: body, key: holder?.key, now: now())
    guard let desk, let device else { return write(request, holder, reply) }
    desk.look(device) { [self] result in
      switch result {
      case .success(nil): write(request, holder, reply)
      case .success(let answer?):
        holder?.bucket?.take(1)
        reply(answer)
      case .failure(let problem):
        holder?.bucket?.take(1)
        reply(problem.answer)
      }
    }
  }

  /// Checks the records of a request, and writes them.
  private func write(
    _ request: RecordValidator.Request, _ holder: KeyRing.Holder?, _ reply: @escaping @Sendable (HTTPAnswer) -> Void
  ) {
    switch validators.records(request) {
    case .failure(let problem):
      // Otherwise a key could send refused requests without end.
      holder?.bucket?.take(1)
      reply(problem.answer)
    case .success(let records):
      holder?.bucket?.take(records.count)
      let topic = records.first?.topic ?? settings.topics.events
      producer.submit(records) { [self] outcome in reply(self.answer(to: outcome, records.count, topic)) }
    }
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
