public import Foundation

/// Keeps the registration of a device and its signals on disk until a gateway of Rouse has them.
///
///     update ──► state.json ─┐
///                            ├─► one request at a time ──► gateway ──► 2xx: done · 4xx: dropped and reported · else: again, later
///     enqueue ─► signals/  ──┘
///
/// An app and its extensions may each have a client on the same folder, at the same time. Nothing is lost when a process ends: the next
/// client goes on. A signal may be sent twice, always under the same id, by which Rouse drops the second.
public actor DeviceClient {
  /// The outcome of `flush`.
  public enum FlushOutcome: Sendable, Equatable {
    /// Nothing waits any longer.
    case empty
    /// Something waits, and the next attempt is due after this time.
    case later(Duration)
    /// The client was stopped.
    case stopped
  }

  let settings: DeviceClientSettings
  let environment: ClientEnvironment
  let folder: ClientFolder
  let queue: SignalQueue
  let backOff: BackOff
  /// The signals of the next request; smaller than `batchMax` after a refusal that did not say which signal is wrong.
  var batchSize: Int
  private var sequence = 0
  private var knownDevice: String?
  private var isFolderReady = false
  private var pass: Task<FlushOutcome, Never>?
  private var worker: Task<Void, Never>?
  /// The calls that gave the worker something to do.
  private var wakes = 0
  /// The dropped signals that are not in the state yet.
  private var uncountedDrops = 0
  /// Whether the last request was repeated because the clock of the device was wrong.
  var hasCorrectedClock = false

  /// Makes a client. It touches nothing before its first use.
  ///
  /// - Parameter settings: The settings.
  public init(_ settings: DeviceClientSettings) { self.init(settings, environment: .system) }

  /// Makes a client with a clock.
  init(_ settings: DeviceClientSettings, environment: ClientEnvironment) {
    precondition(settings.signalsMax > 0 && settings.batchMax > 0, "a client needs room for a signal")
    self.settings = settings
    self.environment = environment
    folder = ClientFolder(url: settings.folder)
    queue = SignalQueue(
      folder: folder.signals, signalsMax: settings.signalsMax, bytesMax: settings.queueBytesMax)
    backOff = BackOff(first: settings.firstPause, longest: settings.longestPause)
    batchSize = settings.batchMax
    knownDevice = settings.device
  }

  // MARK: What the app says

  /// Changes the registration, and has it sent if that made a difference. The newest wins: one that was not sent yet is replaced.
  ///
  /// - Parameter change: Gets the registration as all processes know it, or a new one with the system's version and time zone. It may
  ///   run several times.
  /// - Throws: `DeviceClientError` if the change could not be kept.
  public func update(_ change: @Sendable (inout DeviceRegistration) -> Void) async throws(DeviceClientError) {
    try await changeState { state in
      var registration = state.registration ?? DeviceRegistration()
      let before = state.registration.flatMap { try? ClientCoding.bytes($0) }
      change(&registration)
      let isSame = before != nil && before == (try? ClientCoding.bytes(registration))
      if isSame, state.phase == .sent || state.phase == .pending { return }
      state.registration = registration
      state.phase = .pending
      state.revision += 1
    }
    wake()
  }

  /// Replaces the registration as a whole.
  ///
  /// - Parameter registration: The registration. What another process has noted is lost.
  /// - Throws: `DeviceClientError` if it could not be kept.
  public func register(_ registration: DeviceRegistration) async throws(DeviceClientError) {
    try await update { $0 = registration }
  }

  /// The newest registration, sent or not; nil if there is none.
  ///
  /// - Throws: `DeviceClientError` if it could not be read.
  public func registration() async throws(DeviceClientError) -> DeviceRegistration? {
    try await changeState { $0.registration }
  }

  /// Forgets the device, such as when a person signs out: drops what waits, and has Rouse forget it.
  ///
  /// - Throws: `DeviceClientError` if the wish could not be kept.
  public func forget() async throws(DeviceClientError) {
    try await changeState { state in
      state.registration = nil
      state.phase = .forgetting
      state.revision += 1
    }
    for signal in queue.waiting { queue.remove(signal) }
    wake()
  }

  /// Keeps a signal until the gateway has it.
  ///
  /// - Parameters:
  ///   - signal: The signal.
  ///   - time: The time at which it happened; nil for now.
  /// - Throws: `DeviceClientError` if it could not be kept.
  public func enqueue(_ signal: DeviceSignal, at time: Date? = nil) async throws(DeviceClientError) {
    try makeFolder()
    let now = ServerTime(environment.now())
    sequence += 1
    let dropped = try queue.add(
      QueuedSignal(signal, at: time.map { ServerTime($0) } ?? now), at: now, sequence: sequence)
    if dropped > 0 {
      settings.report(.signalsDropped(count: dropped))
      uncountedDrops += dropped
      await countDrops()
    }
    wake()
  }

  /// Brings the dropped signals into the state. If it cannot be written, they are counted with the next ones.
  private func countDrops() async {
    let count = uncountedDrops
    uncountedDrops = 0
    do throws(DeviceClientError) { try await changeState { $0.dropped += count } } catch {
      uncountedDrops += count
      settings.report(.storageFailed(error))
    }
  }

  /// The id of the device: that of the settings, or the one that the client made for this install.
  ///
  /// - Throws: `DeviceClientError` if it could not be read or kept.
  public func device() async throws(DeviceClientError) -> String {
    if let knownDevice { return knownDevice }
    try makeFolder()
    for _ in 0..<ClientFolder.lockAttemptsMax {
      if let device = try folder.device() {
        knownDevice = device
        return device
      }
      try await pauseForLock()
    }
    throw busy
  }

  /// The state of the client, as its folder has it for all processes.
  ///
  /// - Throws: `DeviceClientError` if it could not be read.
  public func status() async throws(DeviceClientError) -> DeviceClientStatus {
    let state = try await changeState { $0 }
    return DeviceClientStatus(
      waitingSignals: queue.waiting.count,
      isRegistrationWaiting: state.phase == .pending || state.phase == .forgetting, failures: state.failures,
      droppedSignals: state.dropped, damagedFiles: state.damaged, refusals: state.refused)
  }

  // MARK: Sending

  /// Sends what waits, unless the pause after a failure goes on. If the client is sending already, waits for that.
  ///
  /// - Returns: The outcome. Failures are no errors: everything stays on disk.
  @discardableResult public func flush() async -> FlushOutcome {
    while let pass {
      let wasStopped = pass.isCancelled
      let outcome = await pass.value
      // One that was stopped before this call ends without what this call is about.
      if !wasStopped { return outcome }
    }
    let task = Task { await self.runPass() }
    pass = task
    return await task.value
  }

  /// Ends the pause after a lost network, such as when the system says that there is a path again. A pause that the gateway asked for goes
  /// on.
  ///
  /// - Throws: `DeviceClientError` if the state could not be read or written.
  public func networkIsBack() async throws(DeviceClientError) {
    try await changeState { state in
      if !state.isPausedByServer { state.retryAt = nil }
    }
    worker?.cancel()
    worker = nil
    wake()
  }

  /// Ends a request under way, and sends nothing by itself until the next call. Everything stays on disk.
  public func stop() {
    worker?.cancel()
    worker = nil
    pass?.cancel()
  }

  private func runPass() async -> FlushOutcome {
    let outcome = await sendAll()
    pass = nil
    return outcome
  }

  /// Has a task send what waits, if there is none.
  private func wake() {
    wakes += 1
    guard settings.sendsByItself, worker == nil else { return }
    let sleep = environment.sleep
    worker = Task { [weak self] in
      while let pause = await self?.pauseAfterFlush() {
        do { try await sleep(pause) } catch { return }
      }
    }
  }

  /// Sends, and returns the pause before the next attempt; nil if the worker is to end.
  private func pauseAfterFlush() async -> Duration? {
    let before = wakes
    let outcome = await flush()
    if Task.isCancelled { return nil }
    switch outcome {
    case .later(let pause): return pause
    case .empty where wakes != before: return .zero
    case .empty, .stopped:
      worker = nil
      return nil
    }
  }

  // MARK: The folder

  /// Changes the state that all processes share.
  @discardableResult func changeState<Result: Sendable>(
    _ body: @Sendable (inout ClientState) -> Result
  ) async throws(DeviceClientError) -> Result {
    try makeFolder()
    for _ in 0..<ClientFolder.lockAttemptsMax {
      switch try folder.change(body) {
      case .done(let result, let isDamaged):
        if isDamaged { settings.report(.stateDamaged) }
        return result
      case .busy: try await pauseForLock()
      }
    }
    throw busy
  }

  private var busy: DeviceClientError { .busy("another process does not release the lock of \(folder.url.path)") }

  private func pauseForLock() async throws(DeviceClientError) {
    do { try await environment.sleep(ClientFolder.lockPause) } catch {
      throw .busy("the task was cancelled while another process had the lock of \(folder.url.path)")
    }
  }

  private func makeFolder() throws(DeviceClientError) {
    guard !isFolderReady else { return }
    try folder.make()
    queue.removeStrays(at: environment.now())
    isFolderReady = true
  }
}

/// The pauses after failures: exponential, with full jitter, so that devices that failed together do not come back together.
struct BackOff: Sendable {
  /// The upper end of the first pause.
  var first: Duration
  /// The upper end of every pause.
  var longest: Duration

  /// The doublings after which the upper end does not grow any longer, whatever `longest` is.
  private static let doublings = 20

  /// Returns the pause before the next attempt.
  ///
  /// - Parameters:
  ///   - failures: The failed attempts in a row, at least 1.
  ///   - retryAfter: The pause that the server asks for; nil for none. The jitter comes on top of it.
  ///   - random: A number of [0, 1).
  func pause(after failures: Int, retryAfter: Duration?, random: Double) -> Duration {
    let end = min(longest, first * (1 << min(Self.doublings, max(0, failures - 1))))
    return (retryAfter ?? .zero) + end * random
  }
}

/// The clock and the randomness of a client.
struct ClientEnvironment: Sendable {
  /// The wall clock.
  var now: @Sendable () -> Date
  /// Waits. Ends with `CancellationError` when its task is cancelled.
  var sleep: @Sendable (Duration) async throws -> Void
  /// Returns a number of [0, 1).
  var random: @Sendable () -> Double

  /// Those of the system.
  static let system = ClientEnvironment(
    now: { Date() }, sleep: { try await Task.sleep(for: $0) }, random: { Double.random(in: 0..<1) })
}
