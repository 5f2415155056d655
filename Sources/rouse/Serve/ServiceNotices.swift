/// The messages of a process to its service manager. A plain value without clock and socket.
///
///     starting ──the process was ready once: READY──► working ──asked to end: STOPPING──► ending
///         └──────────────────────asked to end: STOPPING─────────────────────────────────────┘
///
/// A process that starts asks for more time again and again, so that the manager's limit only ends one that hangs. The watchdog is fed in
/// each state, but only while no thread is stuck. The status is sent when it has changed.
struct ServiceNotices {
  /// The state of the process, as its probes tell it.
  struct ProcessState {
    /// The reasons why the process has not been ready yet; empty once it was.
    var reasonsNotStarted: [String] = []
    /// The reasons why the process is not ready.
    var reasonsNotReady: [String] = []
    /// The reasons why the process should be ended and started again.
    var reasonsStuck: [String] = []
    /// The things that the process does without.
    var missing: [String] = []
    /// Whether the process was asked to end.
    var isEnding = false
  }

  private enum Phase { case starting, working, ending }

  private let feedInterval: Duration?
  private var phase = Phase.starting
  private var status = ""
  private var fedAt: ContinuousClock.Instant?
  private var askedAt: ContinuousClock.Instant?

  /// The time that a process that starts asks for.
  private static let startSeconds = 60
  /// The time after which a process that starts asks again: early enough that two requests may come late.
  private static let askInterval = Duration.seconds(20)
  /// The longest time between two looks at the state.
  private static let lookInterval = Duration.seconds(1)

  /// Makes the messages of a process that starts.
  ///
  /// - Parameter watchdog: The time after which the manager ends a process that has not fed its watchdog; nil: never. The watchdog is
  ///   fed after half of it.
  init(watchdog: Duration?) { feedInterval = watchdog.map { $0 / 2 } }

  /// The time from one call of `next` to the following one.
  var interval: Duration { min(Self.lookInterval, feedInterval ?? Self.lookInterval) }

  /// Returns the lines of the next message.
  ///
  /// - Parameters:
  ///   - state: The state of the process.
  ///   - now: The time.
  /// - Returns: The lines, each `NAME=value`; none when there is nothing new to say.
  mutating func next(_ state: ProcessState, at now: ContinuousClock.Instant) -> [String] {
    var lines: [String] = []
    if state.isEnding, phase != .ending {
      phase = .ending
      lines.append("STOPPING=1")
    } else if phase == .starting, state.reasonsNotStarted.isEmpty {
      phase = .working
      lines.append("READY=1")
    }
    let isStuck = !state.reasonsStuck.isEmpty
    if phase == .starting, !isStuck, Self.isDue(askedAt, after: Self.askInterval, at: now) {
      askedAt = now
      lines.append("EXTEND_TIMEOUT_USEC=\(Self.startSeconds * 1_000_000)")
    }
    if let feedInterval, !isStuck, Self.isDue(fedAt, after: feedInterval, at: now) {
      fedAt = now
      lines.append("WATCHDOG=1")
    }
    let text = text(of: state)
    if text != status {
      status = text
      lines.append("STATUS=\(text)")
    }
    return lines
  }

  private static func isDue(
    _ last: ContinuousClock.Instant?, after interval: Duration, at now: ContinuousClock.Instant
  ) -> Bool {
    last.map { now - $0 >= interval } ?? true
  }

  /// Returns the line that `systemctl status` shows: the worst that there is to say.
  private func text(of state: ProcessState) -> String {
    if !state.reasonsStuck.isEmpty { return "stuck: \(Self.brief(state.reasonsStuck))" }
    switch phase {
    case .starting: return "starting: \(Self.brief(state.reasonsNotStarted))"
    case .working:
      guard state.reasonsNotReady.isEmpty else { return "not ready: \(Self.brief(state.reasonsNotReady))" }
      return state.missing.isEmpty ? "ready" : "ready; missing: \(Self.brief(state.missing))"
    case .ending: return "ending"
    }
  }

  /// Returns the first reason, and the number of the others.
  private static func brief(_ reasons: [String]) -> String {
    let first = reasons.first ?? ""
    return reasons.count > 1 ? "\(first), and \(Digits.count(reasons.count - 1, "more reason"))" : first
  }
}
