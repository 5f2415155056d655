import Domain

/// The looks at a device and the fetches of its widgets as far as the console knows them, with the sentence that says how far.
struct KnownLooks {
  /// The signals, newest first.
  let signals: [Signal]
  /// The sentence.
  let words: [PageCell]
  /// Whether the signals could be read.
  let isKnown: Bool

  /// Looks for the signals.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - from: The first instant; nil for any.
  ///   - to: The first instant that is too late; nil for none.
  ///   - devices: The view of the registrations; nil if the console does not know it.
  init(_ device: Identifier, from: Timestamp?, to: Timestamp?, _ devices: (any ListeningDevices)?) {
    guard let devices else {
      (signals, isKnown) = ([], false)
      words = .withoutView("Looks and fetches are not known here. The console shows them if ")
      return
    }
    do throws(ListeningDevicesError) {
      signals = try devices.signals(of: device, from: from, to: to)
      isKnown = true
      words = [
        "Apps, and backends that answer fetches, tell of looks and fetches by signals. Some of the newest of each device are kept; a Live Activity or an app that sends none has none."
      ]
    } catch {
      (signals, isKnown) = ([], false)
      words = [PageCell("Looks and fetches are not known: \(error).", tone: .bad)]
    }
  }

  /// The signals as a table.
  ///
  /// - Parameter time: Writes the times.
  func table(_ time: PageTime) -> PageTable {
    var table = PageTable(
      name: "looks", caption: "Looks and fetches, newest first",
      columns: ["Time, \(time.zone)", "Signal", "Instance"], empty: "No look and no fetch is known in this range.")
    table.rows = signals.compactMap { signal in
      guard let (name, instance) = Self.words(of: signal.kind) else { return nil }
      return [time.cell(signal.time), PageCell(name), PageCell(instance)]
    }
    return table
  }

  /// Returns a look or a fetch in words, and the instance that it is about; nil for another signal, which no view keeps.
  private static func words(of kind: Signal.Kind) -> (name: String, instance: String)? {
    switch kind {
    case .appForegrounded: ("the app was opened", "")
    case .appBackgrounded: ("the app was left", "")
    case .widgetFetched(let instance, _): ("fetched", instance?.text ?? "every widget")
    case .widgetViewed(let instance): ("looked at", instance?.text ?? "every widget")
    case .activityStarted, .activityEnded, .activityDismissed, .tokenRejected, .deliveryCompleted: nil
    }
  }
}
