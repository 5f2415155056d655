import Domain
import Planning

/// What the signals of one simulated device told: when its widgets reloaded without a push, and when they were looked at.
struct DeviceHistory: Sendable {
  private struct Span {
    /// Nil: every widget.
    var instance: String?
    var from: Int64
    var to: Int64
  }

  private var spans: [Span] = []
  private var foregroundSince: Int64?
  private var looks: [(instance: String?, at: Int64)] = []
  /// An app that never says it went to the background counts as in the foreground for so long.
  private static let foregroundMax = PlannerBounds().foregroundMax

  /// Signals by time.
  mutating func note(_ signal: Signal, at now: Int64) {
    switch signal.kind {
    case .appForegrounded:
      close(at: now)
      foregroundSince = now
    case .appBackgrounded: close(at: now)
    case .widgetFetched(let instance): spans.append(Span(instance: instance, from: now, to: now))
    case .widgetViewed(let instance): looks.append((instance, now))
    case .activityStarted, .activityEnded, .activityDismissed, .tokenRejected, .deliveryCompleted: break
    }
  }

  private mutating func close(at now: Int64) {
    guard let since = foregroundSince else { return }
    spans.append(Span(instance: nil, from: since, to: min(now, since + Self.foregroundMax)))
    foregroundSince = nil
  }

  /// Instants at which a widget was reloaded for free, rising: while the app is in the foreground, whenever something comes.
  func freeReloads(of stream: InstanceStream) -> [Int64] {
    guard stream.reach != .control else { return [] }
    var closed = self
    closed.close(at: .max - Self.foregroundMax)
    var instants: [Int64] = []
    for span in closed.spans where span.instance == nil || span.instance == stream.instance {
      instants.append(span.from)
      if span.to == span.from { continue }
      let from = stream.arrivals.partitioningIndex { $0.time > span.from }
      let to = stream.arrivals.partitioningIndex { $0.time > span.to }
      if from < to { instants += stream.arrivals[from..<to].map(\.time) }
      instants.append(span.to)
    }
    instants.sort()
    return instants
  }

  /// Whether one widget ever fetched without the others.
  var fetchesAlone: Bool { spans.contains { $0.instance != nil } }

  /// Looks at an instance, rising.
  func looks(at stream: InstanceStream) -> [Int64] {
    looks.filter { $0.instance == nil || $0.instance == stream.instance }.map(\.at)
  }
}
