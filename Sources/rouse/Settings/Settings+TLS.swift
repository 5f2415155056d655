import Logging
import Serving

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
