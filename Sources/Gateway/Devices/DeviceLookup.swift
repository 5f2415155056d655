import Dispatch
import Domain
import Serving
import Synchronization

/// Looks up registrations off the event loops, and says whether a request may go on. May be used from any thread.
final class DeviceLookup: Sendable {
  /// The parts of a request that a registration in force decides on.
  struct DeviceRequest: Sendable {
    var operation: GatewayOperation
    var device: String
    /// The apps of the key; none for any app.
    var apps: [String]
    /// The header `If-Match`.
    var ifMatch: String?
    /// The header `If-None-Match`.
    var ifNoneMatch: String?

    /// Whether the request depends on a tag.
    var isConditional: Bool { ifMatch != nil || ifNoneMatch != nil }
    /// Whether anything is to be looked up.
    var needsLookup: Bool { operation == .getDevice || isConditional || !apps.isEmpty }
  }

  private let devices: any RegisteredDevices
  private let queue = DispatchQueue(label: "rouse.gateway.devices", attributes: .concurrent)
  private let underway = Atomic<Int>(0)

  /// The requests that are looked up, or wait for it.
  /// - Beyond: a request is refused with 503.
  static let requestsMax = 64
  /// The time after which a client is to ask again while the view is being filled, or its disk fails, in seconds.
  private static let retrySeconds = 5

  /// Makes a look-up.
  ///
  /// - Parameter devices: The registrations in force.
  init(_ devices: any RegisteredDevices) { self.devices = devices }

  /// Looks up the device of a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - done: Called once: on another thread with the registration, or the answer to `getDevice`; or with a refusal, maybe at once.
  func look(_ request: DeviceRequest, _ done: @escaping @Sendable (Result<HTTPAnswer?, Problem>) -> Void) {
    guard underway.add(1, ordering: .relaxed).newValue <= Self.requestsMax else {
      underway.subtract(1, ordering: .relaxed)
      return done(.failure(Problem(.unavailable, "too many devices are being looked up", retryAfterSeconds: 1)))
    }
    queue.async { [self] in
      let result: Result<HTTPAnswer?, Problem>
      do throws(Problem) { result = .success(try answer(request)) } catch { result = .failure(error) }
      underway.subtract(1, ordering: .relaxed)
      done(result)
    }
  }

  /// Returns the answer to `getDevice`; nil if another request may go on.
  private func answer(_ request: DeviceRequest) throws(Problem) -> HTTPAnswer? {
    let isChange = request.operation == .putDevice || request.operation == .publishSignals
    guard let age = devices.ageSeconds else {
      // A registration names its app itself, and a signal harms little: they do not wait until the view is full.
      if isChange, !request.isConditional { return nil }
      throw Problem(
        .unavailable, "the view of devices is being filled; try again", retryAfterSeconds: Self.retrySeconds)
    }
    let found: RegisteredDevice?
    do throws(RegisteredDevicesError) { found = try devices.find(request.device) } catch {
      throw Problem(
        .unavailable, "the view of devices cannot be read: \(error.words)", retryAfterSeconds: Self.retrySeconds)
    }
    if let found, !request.apps.isEmpty, !request.apps.contains(found.app) {
      throw Problem(.forbidden, "the device is registered for an app that is none of the key")
    }
    let tag = found.map { EntityTag($0.value) }
    guard request.operation == .getDevice else {
      try Self.check(request, tag)
      return nil
    }
    guard let found, let tag else {
      var answer = Problem(.unknownDevice, "the device is not registered").answer
      answer.headers.append(("age", "\(age)"))
      return answer
    }
    let isKnown = request.ifNoneMatch.map { EntityTag.names($0, tag, isWeak: true) } ?? false
    return HTTPAnswer(
      status: isKnown ? 304 : 200, contentType: "application/json",
      headers: [("etag", tag.text), ("age", "\(age)"), ("cache-control", "no-store")],
      body: isKnown ? [] : found.value)
  }

  /// Refuses a change whose headers do not fit the registration in force.
  private static func check(_ request: DeviceRequest, _ tag: EntityTag?) throws(Problem) {
    if let ifMatch = request.ifMatch, !EntityTag.names(ifMatch, tag, isWeak: false) {
      throw Problem(
        .preconditionFailed,
        tag.map { "the registration has changed: its tag is \($0.text); get it, and decide again" }
          ?? "the device is not registered, as far as this gateway knows")
    }
    if let ifNoneMatch = request.ifNoneMatch, let tag, EntityTag.names(ifNoneMatch, tag, isWeak: true) {
      throw Problem(
        .preconditionFailed, "the device is registered already: its tag is \(tag.text); get it, and decide again")
    }
  }
}

extension EntityTag {
  /// The hexadecimal digits of SHA-256 that a tag has.
  private static let digits = 32

  /// Makes the tag of a registration.
  ///
  /// - Parameter value: The registration, as it was written.
  init(_ value: [UInt8]) { self.init(SHA256.hexDigest(of: value).prefix(Self.digits)) }
}

/// The registrations that are in force, as the gateway can look them up. They may be some seconds old.
public protocol RegisteredDevices: Sendable {
  /// The age in whole seconds: what was written before that can be found. Nil while not everything was read yet.
  var ageSeconds: Int? { get }

  /// Finds a registration. May read the disk; called on a thread that may wait.
  ///
  /// - Parameter device: The device.
  /// - Returns: The registration; nil if there is none.
  /// - Throws: `RegisteredDevicesError` if it cannot be looked up now.
  func find(_ device: String) throws(RegisteredDevicesError) -> RegisteredDevice?
}

/// A registration that is in force.
public struct RegisteredDevice: Sendable, Equatable {
  /// The bundle id of the app.
  public var app: String
  /// The registration, as it was written.
  public var value: [UInt8]

  /// Makes a registration.
  ///
  /// - Parameters:
  ///   - app: The bundle id of the app.
  ///   - value: The registration, as it was written.
  public init(app: String, value: [UInt8]) {
    self.app = app
    self.value = value
  }
}

/// The reason why a registration could not be looked up.
public struct RegisteredDevicesError: Error, Sendable {
  /// The reason in lower case.
  public var words: String

  /// Makes an error.
  ///
  /// - Parameter words: The reason in lower case.
  public init(_ words: String) { self.words = words }
}
