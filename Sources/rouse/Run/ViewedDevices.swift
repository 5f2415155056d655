import DeviceView
import Foundation
import Gateway

/// The view of the registrations, as the gateway looks into it.
struct ViewedDevices: RegisteredDevices {
  /// The view.
  let store: DeviceStore

  var ageSeconds: Int? { store.age(at: Date()) }

  func find(_ device: String) throws(RegisteredDevicesError) -> RegisteredDevice? {
    do throws(DeviceStoreError) {
      return try store.find(device).map { RegisteredDevice(app: $0.app, value: $0.value) }
    } catch {
      throw RegisteredDevicesError("\(error)")
    }
  }
}
