import Console
import DeviceView
import Foundation

/// The view of the registrations, as the console counts in it.
struct ViewedListeners: ListeningDevices {
  /// The reader of the view.
  let listeners: DeviceListeners

  func count(_ groups: [(kind: String, keys: [String])]) throws(ListeningDevicesError) -> ListeningCounts {
    do throws(DeviceStoreError) {
      let counts = try listeners.count(groups.map { .init(kind: $0.kind, keys: $0.keys) }, at: Date())
      return ListeningCounts(kinds: counts.groups, devices: counts.devices, ageSeconds: counts.ageSeconds)
    } catch {
      throw ListeningDevicesError("\(error)")
    }
  }
}
