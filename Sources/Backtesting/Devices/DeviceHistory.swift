import Domain
import Planning

/// The history of one modelled device, from its signals: when its widgets reloaded without a push, and when people looked
/// at them.
struct DeviceHistory: Sendable {
  /// A span of time in which widgets reload for free, µs.
  private struct Span {
    /// The widget; nil for all widgets of the device.
    var instance: Identifier?
    var from: Int64
    var to: Int64
  }

  private var spans: [Span] = []
  private var foregroundSince: Int64?
  private var looks: [(instance: Identifier?, at: Int64)] = []
  /// The longest time for which an app counts as in the foreground without a signal that it went to the background, µs.
  private static let foregroundMax = PlannerBounds().foregroundMax.microseconds

  /// Adds a signal. Signals must come in the order of their times.
  /// - Parameters:
  ///   - signal: The signal.
  ///   - now: Log time, µs.
  mutating func note(_ signal: Signal, at now: Int64) {
    switch signal.kind {
    case .appForegrounded:
      close(at: now)
      foregroundSince = now
    case .appBackgrounded: close(at: now)
    case .widgetFetched(let instance, _): spans.append(Span(instance: instance, from: now, to: now))
    case .widgetViewed(let instance): looks.append((instance, now))
    case .activityStarted, .activityEnded, .activityDismissed, .tokenRejected, .deliveryCompleted: break
    }
  }

  /// Ends the span in which the app is in the foreground, if it is.
  private mutating func close(at now: Int64) {
    guard let since = foregroundSince else { return }
    spans.append(Span(instance: nil, from: since, to: min(now, since + Self.foregroundMax)))
    foregroundSince = nil
  }

  /// Returns the instants at which an instance reloaded for free, µs, rising: when it fetched by itself, and with every
  /// change while the app was in the foreground.
  func freeReloads(of stream: InstanceStream) -> [Int64] {
    guard stream.reach != .control else { return [] }
    var closed = self
    closed.close(at: .max - Self.foregroundMax)
    var instants: [Int64] = []
    for span in closed.spans where span.instance == nil || span.instance == stream.instance {
      instants.append(span.from)
      if span.to == span.from { continue }
      instants += Self.times(of: stream.arrivals, within: span, \.time)
      instants += Self.times(of: stream.screen.changes, within: span, \.time)
      instants.append(span.to)
    }
    instants.sort()
    return instants
  }

  /// Returns the times of changes after the start of a span, up to its end.
  private static func times<Change>(
    of changes: [Change], within span: Span, _ time: (Change) -> Int64
  ) -> [Int64] {
    let from = changes.partitioningIndex { time($0) > span.from }
    let to = changes.partitioningIndex { time($0) > span.to }
    return from < to ? changes[from..<to].map(time) : []
  }

  /// Whether a widget ever fetched by itself, without the others.
  var fetchesAlone: Bool { spans.contains { $0.instance != nil } }

  /// Returns the looks at an instance, µs, rising.
  func looks(at stream: InstanceStream) -> [Int64] {
    looks.filter { $0.instance == nil || $0.instance == stream.instance }.map(\.at)
  }
}
