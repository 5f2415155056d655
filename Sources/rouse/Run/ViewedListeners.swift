import Console
import DeviceView
import Domain
import Foundation

/// The view of the registrations, as the console asks it.
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

  func shown() throws(ListeningDevicesError) -> ShownInstances {
    do throws(DeviceStoreError) {
      let totals = try listeners.totals(at: Date())
      return ShownInstances(
        devices: totals.devices, instances: totals.instances, ageSeconds: totals.ageSeconds)
    } catch {
      throw ListeningDevicesError("\(error)")
    }
  }

  func find(_ device: Identifier) throws(ListeningDevicesError) -> FoundRegistration {
    let found: (device: StoredDevice?, ageSeconds: Int?)
    do throws(DeviceStoreError) { found = try listeners.find(device.text, at: Date()) } catch {
      throw ListeningDevicesError("\(error)")
    }
    guard let stored = found.device else { return FoundRegistration(registration: nil, ageSeconds: found.ageSeconds) }
    do throws(DomainError) {
      let registration = try RegistrationDecoder().decode(stored.value)
      return FoundRegistration(registration: registration, ageSeconds: found.ageSeconds)
    } catch {
      throw ListeningDevicesError("the registration cannot be read: \(error)")
    }
  }

  func registrations(
    of devices: [Identifier]
  ) throws(ListeningDevicesError) -> (registrations: [Registration], ageSeconds: Int?) {
    let (found, age): ([StoredDevice], Int?)
    do throws(DeviceStoreError) { (found, age) = try listeners.find(devices.map(\.text), at: Date()) } catch {
      throw ListeningDevicesError("\(error)")
    }
    let decoder = RegistrationDecoder()
    var registrations: [Registration] = []
    for stored in found {
      do throws(DomainError) { registrations.append(try decoder.decode(stored.value)) } catch {
        throw ListeningDevicesError("a registration cannot be read: \(error)")
      }
    }
    return (registrations, age)
  }

  func signals(
    of device: Identifier, from: Timestamp?, to: Timestamp?
  ) throws(ListeningDevicesError) -> [Signal] {
    do throws(DeviceStoreError) { return try listeners.signals(of: device, from: from, to: to) } catch {
      throw ListeningDevicesError("\(error)")
    }
  }
}
