import Installation
import Serving

extension Settings {
  /// Refuses two listeners of this process on one port.
  ///
  /// - Throws: `ValidationError` or ``Failure`` that names both settings; as ``httpListen()`` does.
  func checkListeners() throws {
    var listeners: [(key: SettingKey, address: HTTPAddress)] = []
    if let address = try httpListen() { listeners.append((.httpListen, address)) }
    for (role, key) in [(Role.gateway, SettingKey.gatewayListen), (.console, .consoleListen)]
    where roles.contains(role) {
      guard let address = HTTPAddress(textOrDefault(key)), address.port != 0 else { continue }
      if let other = listeners.first(where: { $0.address.overlaps(address) }) {
        throw refusal(
          key,
          "\(address.text) has the port of \(other.key.rawValue), \(other.address.text); give each listener a port of its own"
        )
      }
      listeners.append((key, address))
    }
  }
}

extension HTTPAddress {
  /// Whether two programs cannot listen on both addresses: they have the same port, and the same host or one that stands for all.
  fileprivate func overlaps(_ other: HTTPAddress) -> Bool {
    guard port == other.port else { return false }
    let hosts = [host.lowercased(), other.host.lowercased()].map { $0 == "localhost" ? "127.0.0.1" : $0 }
    return hosts[0] == hosts[1] || hosts.contains { ["0.0.0.0", "::"].contains($0) }
  }
}
