import Foundation

/// A signal as it waits on disk. Its id is made once, so that a repeat of a request does no harm.
struct QueuedSignal: Codable, Sendable, Equatable {
  /// The id of the CloudEvent.
  var id: String
  /// The type of the CloudEvent.
  var type: String
  /// The time by the clock of the device.
  var time: ServerTime
  /// The widget or Live Activity.
  var instance: String?
  /// The kind of the Live Activity.
  var kind: String?
  /// The subject of the Live Activity.
  var activitySubject: String?
  /// The token.
  var token: PushToken?

  /// Makes a signal with an id of its own.
  init(_ signal: DeviceSignal, at time: ServerTime) {
    id = UUID().uuidString.lowercased()
    type = signal.type
    self.time = time
    instance = signal.instance
    (kind, activitySubject) = signal.activity
    token = signal.token
  }
}

/// A signal as the gateway takes it: `schemas/signal.schema.json`.
struct SignalDocument: Encodable {
  private struct SignalDetails: Encodable {
    var instance: String?
    var kind: String?
    var subject: String?
    var token: PushToken?
  }

  private var specversion = "1.0"
  private var id: String
  private var source: String
  private var type: String
  private var subject: String
  private var time: String
  private var data: SignalDetails

  /// Makes the document of a signal.
  ///
  /// - Parameters:
  ///   - signal: The signal.
  ///   - device: The device.
  ///   - source: The source of the CloudEvent.
  ///   - offset: The time by which the server's clock is ahead of the device's.
  init(_ signal: QueuedSignal, device: String, source: String, offset: Duration) {
    id = signal.id
    self.source = source
    type = signal.type
    subject = device
    time = (signal.time + offset).text
    data = SignalDetails(
      instance: signal.instance, kind: signal.kind, subject: signal.activitySubject, token: signal.token)
  }
}
