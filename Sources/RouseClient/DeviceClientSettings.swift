public import Foundation

/// The environment of APNs to which the tokens of an app install belong.
public enum APNsEnvironment: String, Sendable, Codable {
  /// Apps from the App Store and TestFlight.
  case production
  /// Apps that Xcode has installed.
  case sandbox
}

/// The settings of a `DeviceClient`. All processes that use a folder need the same.
public struct DeviceClientSettings: Sendable {
  /// The address of the gateway, such as `https://push.example.com`, or of a backend with the same paths.
  public var gateway: URL
  /// The bundle id of the app.
  public var app: String
  /// The environment of APNs.
  public var environment: APNsEnvironment
  /// The folder of the client, in the container of the app group if a widget extension uses it, too.
  public var folder: URL
  /// The id of the app install; nil if the client makes one and keeps it in the folder.
  public var device: String?
  /// Returns the value of the header `Authorization`, such as `Bearer …`; nil for none. Called before each request.
  public var authorization: @Sendable () async throws -> String? = { nil }
  /// Gets what happens. Called by the client, one call after the other; it must not block.
  public var report: @Sendable (DeviceClientReport) -> Void = { _ in }
  /// The way to the gateway.
  public var transport: any ClientTransport = URLSessionTransport()
  /// Whether the client sends by itself whenever there is something to send, and tries again after a pause. Without it, only `flush` sends.
  public var sendsByItself = true
  /// The largest number of signals that wait.
  /// - Beyond: the oldest are dropped and counted.
  public var signalsMax = 1000
  /// The bytes of all signals that wait, as they are on disk.
  /// - Beyond: the oldest are dropped and counted.
  public var queueBytesMax = 512 << 10
  /// The largest number of signals of a request.
  /// - Beyond: the others go with the next request.
  public var batchMax = 100
  /// The upper end of the first pause after a failure. It doubles with each further failure.
  public var firstPause = Duration.seconds(2)
  /// The upper end of every pause after a failure.
  public var longestPause = Duration.seconds(900)

  /// Makes settings.
  ///
  /// - Parameters:
  ///   - gateway: The address of the gateway.
  ///   - app: The bundle id of the app.
  ///   - environment: The environment of APNs.
  ///   - folder: The folder of the client.
  public init(gateway: URL, app: String, environment: APNsEnvironment, folder: URL) {
    self.gateway = gateway
    self.app = app
    self.environment = environment
    self.folder = folder
  }
}
