import Installation
import Logging
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

extension Settings {
  /// Returns the certificate of a server; nil if it has no TLS.
  ///
  /// - Parameters:
  ///   - certificate: The setting that names the certificate.
  ///   - key: The setting that names its private key.
  ///   - logger: Gets renewals, and the warning that the certificate ends soon.
  /// - Throws: `ValidationError` if one file is named without the other; ``Failure`` if the files cannot be used.
  func certificate(_ certificate: SettingKey, _ key: SettingKey, _ logger: Logger) throws -> TLSCertificate? {
    guard let paths = try tlsPaths(certificate, key) else { return nil }
    do throws(TLSCertificateError) { return try TLSCertificate(paths, logger: logger) } catch {
      throw Failure("\(certificate.rawValue): \(error)")
    }
  }

  /// Returns the paths of the certificate and the key of a server; nil if it has no TLS.
  ///
  /// - Throws: `ValidationError` if one is named without the other.
  func tlsPaths(_ certificate: SettingKey, _ key: SettingKey) throws -> TLSCertificate.Paths? {
    switch (text(certificate), text(key)) {
    case (nil, nil): return nil
    case (let certificateFile?, let keyFile?):
      return TLSCertificate.Paths(certificate: certificateFile, key: keyFile)
    case (nil, _?): throw refusal(certificate, "\(key.rawValue) is set, so name the certificate of that key, too")
    case (_?, nil): throw refusal(key, "\(certificate.rawValue) is set, so name the private key of it, too")
    }
  }
}
