public import Serving

/// The topics that a gateway writes to.
public struct GatewayTopics: Sendable, Equatable {
  /// The topic of events.
  public var events: String
  /// The topic of registrations.
  public var devices: String
  /// The topic of signals.
  public var signals: String

  /// Names the topics.
  ///
  /// - Parameters:
  ///   - events: The topic of events, which intake reads.
  ///   - devices: The topic of registrations.
  ///   - signals: The topic of signals.
  public init(events: String, devices: String, signals: String) {
    self.events = events
    self.devices = devices
    self.signals = signals
  }
}

/// The settings of a gateway.
public struct GatewaySettings: Sendable {
  /// The address to listen on.
  public var listen: HTTPAddress
  /// The topics to write to.
  public var topics: GatewayTopics
  /// The certificate of TLS; nil for no TLS.
  public var certificate: TLSCertificate?
  /// The bounds of the server.
  public var limits = HTTPServerLimits()
  /// The bounds of what waits for the brokers.
  public var bounds = RecordProducer.Bounds()

  /// Makes settings with the default bounds.
  ///
  /// - Parameters:
  ///   - listen: The address to listen on.
  ///   - topics: The topics to write to.
  public init(listen: HTTPAddress, topics: GatewayTopics) {
    self.listen = listen
    self.topics = topics
  }
}
