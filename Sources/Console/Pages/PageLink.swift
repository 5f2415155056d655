import Auditing
import Domain
import Foundation

/// The addresses of the pages.
enum PageLink {
  /// Characters that stay as they are in a step of a path and in a query.
  private static let plain = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~:")

  /// Returns a text with escapes.
  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
  }

  /// Returns an address.
  ///
  /// - Parameters:
  ///   - path: The path, already escaped.
  ///   - query: Names with values. Those without a value are left out.
  static func to(_ path: String, _ query: KeyValuePairs<String, String?> = [:]) -> String {
    let items = query.compactMap { name, value in value.map { "\(name)=\(escaped($0))" } }
    return items.isEmpty ? path : "\(path)?\(items.joined(separator: "&"))"
  }

  /// Returns an address with more names in its query.
  static func to(_ address: String, adding query: KeyValuePairs<String, String?>) -> String {
    let more = to("", query).dropFirst()
    return more.isEmpty ? address : "\(address)\(address.contains("?") ? "&" : "?")\(more)"
  }

  /// Returns the address of a thing with an id. Browsers change a path with the step `.` or `..`, so these ids go into the query.
  private static func thing(_ path: String, _ id: Identifier) -> String {
    id == "." || id == ".." ? to(path, ["id": id.text]) : "\(path)/\(escaped(id.text))"
  }

  /// Returns the address at which programs get the same as a page shows; nil for an id that no path can hold.
  ///
  /// - Parameters:
  ///   - page: The address of the page, without a query of its own.
  ///   - suffix: The rest of the path.
  ///   - query: Names with values.
  static func csv(_ page: String, _ suffix: String = "", _ query: KeyValuePairs<String, String?> = [:]) -> String? {
    page.contains("?") ? nil : to(to("/v1\(page)\(suffix)", ["format": "csv"]), adding: query)
  }

  /// The page of a device.
  static func device(_ id: Identifier) -> String { thing("/devices", id) }
  /// The page of an event.
  static func event(_ id: Identifier) -> String { thing("/events", id) }
  /// The page of a command.
  static func command(_ id: Identifier) -> String { thing("/commands", id) }

  /// The address that leads to the explanation of a decision.
  static func decision(_ id: Identifier) -> String { thing("/decisions", id) }

  /// The page of a device, with times at the same offset as on the page that leads there.
  static func device(_ id: Identifier, _ time: PageTime) -> String {
    to(device(id), adding: ["utc-offset": time.query])
  }
  /// The page of a command, with times at the same offset as on the page that leads there.
  static func command(_ id: Identifier, _ time: PageTime) -> String {
    to(command(id), adding: ["utc-offset": time.query])
  }

  /// The page that says why.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - event: The event; nil for the newest.
  ///   - instance: The instance; nil for all.
  ///   - time: The times of the page that leads there. The page has the same offset if that was chosen, and otherwise the device's own.
  static func why(
    device: Identifier, event: Identifier? = nil, instance: Identifier? = nil, _ time: PageTime = PageTime()
  ) -> String {
    to(
      "/why",
      ["device": device.text, "event": event?.text, "instance": instance?.text, "utc-offset": time.query])
  }
}
