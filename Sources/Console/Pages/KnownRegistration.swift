import Auditing
import Domain

/// The registration of a device as far as the console knows it, with the sentence that says how far.
struct KnownRegistration {
  /// The registration; nil if there is none, or if it is not known.
  let registration: Registration?
  /// The sentence.
  let words: [PageCell]

  /// Looks for the registration.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - devices: The registrations; nil if the console does not know them.
  init(_ device: Identifier, _ devices: (any ListeningDevices)?) {
    guard let devices else {
      registration = nil
      words = .withoutView(
        "What is registered is not known here, so these are the instances that had a decision. The console shows the registration if "
      )
      return
    }
    do throws(ListeningDevicesError) {
      let found = try devices.find(device)
      registration = found.registration
      let age = found.ageSeconds.map { "as it was \($0) s ago" } ?? "which is still being filled"
      words = [
        PageCell(
          found.registration == nil
            ? "The copy of the registrations, \(age), has none of this device: it was never registered, was forgotten, or was refused."
            : "By the copy of the registrations, \(age). A token is dead if the last decision says so.")
      ]
    } catch {
      registration = nil
      words = [PageCell("What is registered is not known: \(error).", tone: .bad)]
    }
  }

  /// Writes times in the device's own time zone; nil if that is not known.
  var time: PageTime? { registration.flatMap { PageTime(region: $0.timeZone) } }
}

extension [PageCell] {
  /// Returns a sentence about what a console without a view of the registrations does not know.
  ///
  /// - Parameter beginning: The sentence up to the condition, with a space at its end.
  static func withoutView(_ beginning: String) -> [PageCell] {
    [
      PageCell(beginning), PageCell("console.devicesView", tone: .code),
      " lets it keep a copy of the registrations, or ",
      PageCell("gateway.devicesView", tone: .code), " names that of a gateway on the same machine.",
    ]
  }
}
