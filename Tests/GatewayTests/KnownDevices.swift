import Domain
import HTTPTesting
import JSON
import Synchronization

@testable import Gateway

/// Registrations in memory, as a gateway looks them up.
final class KnownDevices: RegisteredDevices {
  private let known: Mutex<[String: String]>
  private let failure: String?
  let ageSeconds: Int?

  init(_ known: [String: String], ageSeconds: Int? = 3, failure: String? = nil) {
    self.known = Mutex(known)
    self.ageSeconds = ageSeconds
    self.failure = failure
  }

  func find(_ device: String) throws(RegisteredDevicesError) -> RegisteredDevice? {
    if let failure { throw RegisteredDevicesError(failure) }
    guard let text = known.withLock({ $0[device] }) else { return nil }
    let app = try? JSONValue(parsing: text)["app"]?.text
    return RegisteredDevice(app: app ?? "", value: Array(text.utf8))
  }

  func set(_ device: String, _ text: String?) { known.withLock { $0[device] = text } }
}
