import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request after the other, until nothing waits or an attempt fails.
extension DeviceClient {
  /// The outcome of one request.
  private enum RequestOutcome {
    /// Something was done; go on.
    case progress
    /// Nothing waits.
    case nothing
    /// The next attempt is due later.
    case pause(Duration)
  }

  /// The difference of clocks that is corrected. A smaller one may come from the way of the answer.
  private static let clockToleranceSeconds = 10
  /// The error of the clock from which on a request is sent again with the right time.
  private static let clockErrorSeconds = 60
  /// The largest difference of clocks that is believed: 30 years.
  private static let clockOffsetMax = 30 * 366 * 86_400
  /// The time by which a stamp may be ahead of the server's clock. The gateway refuses what is more than an hour ahead.
  private static let aheadMax = Duration.seconds(3600)

  func sendAll() async -> FlushOutcome {
    while true {
      do throws(DeviceClientError) {
        switch try await sendNext() {
        case .progress: if Task.isCancelled { return .stopped }
        case .nothing: return .empty
        case .pause(let pause): return Task.isCancelled ? .stopped : .later(pause)
        }
      } catch {
        if Task.isCancelled { return .stopped }
        settings.report(.storageFailed(error))
        // The disk may refuse the state, too, so this pause is kept in memory alone.
        return .later(backOff.longest * max(0.1, environment.random()))
      }
    }
  }

  private func sendNext() async throws(DeviceClientError) -> RequestOutcome {
    let state = try await changeState { $0 }
    let now = ServerTime(environment.now())
    if let retryAt = state.retryAt, retryAt > now {
      let left = Duration.milliseconds(retryAt.milliseconds - now.milliseconds)
      // A clock that was set back would prolong the pause.
      let longest = GatewayVerdict.retryAfterMax + backOff.longest
      if left <= longest { return .pause(left) }
    }
    switch state.phase {
    case .pending: return try await sendRegistration()
    case .forgetting: return try await sendRemoval(state)
    case .unknown, .sent, .refused: return try await sendSignals(state)
    }
  }

  // MARK: Registrations

  private func sendRegistration() async throws(DeviceClientError) -> RequestOutcome {
    let now = ServerTime(environment.now())
    // Stamped in the order in which the processes read, so that the newest content has the newest time.
    let state = try await changeState { state in
      let server = now + .seconds(state.clockOffsetSeconds)
      let next = state.stamp.map { $0 + .milliseconds(1) } ?? server
      state.stamp = next > server + Self.aheadMax ? server : max(server, next)
      return state
    }
    guard state.phase == .pending, let registration = state.registration, let stamp = state.stamp else {
      return .progress
    }
    let document = RegistrationDocument(
      device: try await device(), app: settings.app, environment: settings.environment, updatedAt: stamp,
      registration: registration)
    let (verdict, offset) = await send("PUT", try await path(), "application/json", try encoded(document))
    switch verdict {
    case .acknowledged:
      // A time that is too old would be ignored, if Rouse knows a registration with a newer one.
      if !isRepeated(offset, state) {
        try await changeState { if $0.revision == state.revision { $0.phase = .sent } }
      }
      return try await worked(offset)
    case .refused(let refusal):
      // A time that is far ahead is refused.
      if !isRepeated(offset, state) {
        try await changeState { now in
          now.refused += 1
          if now.revision == state.revision { now.phase = .refused }
        }
        settings.report(.registrationRefused(status: refusal.status, words: refusal.words))
      }
      return try await worked(offset)
    case .later(let refusal, let retryAfter): return try await failed(refusal, retryAfter, offset)
    }
  }

  private func sendRemoval(_ state: ClientState) async throws(DeviceClientError) -> RequestOutcome {
    let (verdict, offset) = await send("DELETE", try await path(), nil, Data())
    switch verdict {
    case .acknowledged, .refused:
      if case .refused(let refusal) = verdict {
        settings.report(.registrationRefused(status: refusal.status, words: refusal.words))
        try await changeState { $0.refused += 1 }
      }
      try await changeState { if $0.revision == state.revision { $0.phase = .unknown } }
      return try await worked(offset)
    case .later(let refusal, let retryAfter): return try await failed(refusal, retryAfter, offset)
    }
  }

  // MARK: Signals

  private func sendSignals(_ state: ClientState) async throws(DeviceClientError) -> RequestOutcome {
    var batch: [(file: SignalQueue.WaitingSignal, signal: QueuedSignal)] = []
    var damaged = 0
    for file in queue.waiting where batch.count < batchSize {
      switch try queue.read(file) {
      case .whole(let signal): batch.append((file, signal))
      case .damaged: damaged += try queue.removeForGood(file) ? 1 : 0
      case .gone: break
      }
    }
    if damaged > 0 {
      let count = damaged
      settings.report(.signalsDamaged(count: count))
      try await changeState { $0.damaged += count }
      return .progress
    }
    guard !batch.isEmpty else { return .nothing }
    let device = try await device()
    let offset = Duration.seconds(state.clockOffsetSeconds)
    let documents = batch.map {
      SignalDocument($0.signal, device: device, source: "/apps/\(settings.app)", offset: offset)
    }
    let (verdict, clock) = await send(
      "POST", try await path("signals"), "application/cloudevents-batch+json", try encoded(documents))
    switch verdict {
    case .acknowledged:
      for entry in batch { try queue.removeForGood(entry.file) }
      batchSize = min(settings.batchMax, batchSize * 2)
      return try await worked(clock)
    case .refused(let refusal):
      if !isRepeated(clock, state) { try await drop(refusal, of: batch) }
      return try await worked(clock)
    case .later(let refusal, let retryAfter): return try await failed(refusal, retryAfter, clock)
    }
  }

  /// Drops the signals that a refusal names. If it names none, the next request is half as large, until one signal is refused alone.
  private func drop(
    _ refusal: GatewayRefusal, of batch: [(file: SignalQueue.WaitingSignal, signal: QueuedSignal)]
  ) async throws(DeviceClientError) {
    var wrong = refusal.indices.filter { batch.indices.contains($0) }.sorted()
    if wrong.isEmpty, batch.count == 1 { wrong = [0] }
    batchSize = wrong.isEmpty ? batch.count / 2 : batchSize
    guard !wrong.isEmpty else { return }
    let count = wrong.count
    for index in wrong {
      try queue.removeForGood(batch[index].file)
      settings.report(
        .signalRefused(type: batch[index].signal.type, status: refusal.status, words: refusal.words))
    }
    try await changeState { $0.refused += count }
  }

  // MARK: Requests

  private func path(_ last: String? = nil) async throws(DeviceClientError) -> String {
    // Everything else is escaped: `a/b` is one step of the path.
    let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{20}"..."\u{7e}"))
      .union(CharacterSet(charactersIn: "-._~"))
    let device = try await device()
    let escaped = device.addingPercentEncoding(withAllowedCharacters: allowed) ?? device
    return "v1/devices/\(escaped)" + (last.map { "/\($0)" } ?? "")
  }

  private func encoded(_ value: some Encodable) throws(DeviceClientError) -> Data {
    do { return try ClientCoding.bytes(value) } catch {
      throw .storage("cannot write as JSON: \(error.localizedDescription)")
    }
  }

  /// Sends a request.
  ///
  /// - Returns: The meaning of the answer, and the seconds by which the server's clock is ahead, if the answer says so.
  private func send(
    _ method: String, _ path: String, _ contentType: String?, _ body: Data
  ) async -> (GatewayVerdict, clockOffsetSeconds: Int?) {
    let base = settings.gateway.absoluteString
    guard let url = URL(string: base + (base.hasSuffix("/") ? "" : "/") + path) else {
      return (.later(GatewayRefusal(status: 0, words: "\(base) is no address"), retryAfter: nil), nil)
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    if let contentType {
      request.setValue(contentType, forHTTPHeaderField: "Content-Type")
      request.httpBody = body
    }
    do {
      if let authorization = try await settings.authorization() {
        request.setValue(authorization, forHTTPHeaderField: "Authorization")
      }
      let (body, response) = try await settings.transport.answer(to: request)
      let now = environment.now()
      let ahead = response.value(forHTTPHeaderField: "Date").flatMap { GatewayVerdict.date($0) }
        .flatMap { Int(exactly: $0.timeIntervalSince(now).rounded()) }
      return (GatewayVerdict(body, response, at: now), ahead)
    } catch {
      return (.later(GatewayRefusal(status: 0, words: error.localizedDescription), retryAfter: nil), nil)
    }
  }

  /// Whether a request is to be sent again, because its times were made with a wrong clock, as its answer says. This is so once.
  private func isRepeated(_ offset: Int?, _ state: ClientState) -> Bool {
    let isWrong =
      offset.map {
        abs($0) <= Self.clockOffsetMax && abs($0 - state.clockOffsetSeconds) > Self.clockErrorSeconds
      } ?? false
    hasCorrectedClock = isWrong && !hasCorrectedClock
    return hasCorrectedClock
  }

  /// Notes that the gateway has answered for good.
  private func worked(_ offset: Int?) async throws(DeviceClientError) -> RequestOutcome {
    try await changeState { state in
      Self.note(offset, in: &state)
      (state.failures, state.retryAt, state.isPausedByServer) = (0, nil, false)
    }
    return .progress
  }

  /// Notes that an attempt has failed, and sets the time of the next one for all processes.
  private func failed(
    _ refusal: GatewayRefusal, _ retryAfter: Duration?, _ offset: Int?
  ) async throws(DeviceClientError) -> RequestOutcome {
    // A request that was ended by `stop` says nothing of the gateway.
    guard !Task.isCancelled else { return .pause(.zero) }
    let (now, random, backOff) = (ServerTime(environment.now()), environment.random(), self.backOff)
    let pause = try await changeState { state in
      Self.note(offset, in: &state)
      state.failures += 1
      let pause = backOff.pause(after: state.failures, retryAfter: retryAfter, random: random)
      state.retryAt = now + pause
      state.isPausedByServer = refusal.status != 0
      return pause
    }
    if refusal.status == 401 || refusal.status == 403 {
      settings.report(.unauthorized(status: refusal.status, words: refusal.words))
    }
    settings.report(.delayed(status: refusal.status, words: refusal.words, pause: pause))
    return .pause(pause)
  }

  private static func note(_ offset: Int?, in state: inout ClientState) {
    guard let offset, abs(offset) <= clockOffsetMax else { return }
    state.clockOffsetSeconds = abs(offset) > clockToleranceSeconds ? offset : 0
  }
}
