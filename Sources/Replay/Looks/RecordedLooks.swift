import Domain

/// The recorded looks at registered devices as signals, in the order of their times.
struct RecordedLooks {
  private let looks: [(at: Int64, device: Identifier)]
  private var next = 0

  /// Prepares the signals.
  /// - Parameters:
  ///   - screens: The recorded looks.
  ///   - devices: The registered devices. Looks at others are left out.
  init(_ screens: ScreenEvents, devices: Set<Identifier>) {
    looks = screens.phones.filter { devices.contains($0.key) }
      .flatMap { device, phone in phone.looks.map { ($0, device) } }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
  }

  /// The time of the next look, µs; nil if there is none.
  var time: Int64? { next < looks.count ? looks[next].at : nil }

  /// Returns the next look at or before an instant as a signal, or nil if there is none.
  /// - Parameter instant: µs.
  mutating func signal(upTo instant: Int64) -> Signal? {
    guard let time, time <= instant else { return nil }
    next += 1
    return Signal(
      device: looks[next - 1].device, id: Identifier("look-\(next)"), time: Timestamp(microseconds: time),
      kind: .widgetViewed(instance: nil))
  }
}
