import Domain
import Foundation
import Installation
import Keys
import Serving

/// The settings of tokens.
struct TokenSource: Equatable {
  /// The places where the issuer's keys can be.
  enum KeysPlace: Equatable {
    case file(String)
    case address(URL)
  }

  /// The tokens that are accepted.
  var settings: TokenSettings
  /// The place of the issuer's keys.
  var keys: KeysPlace
  /// The path of the file of grants; nil for none.
  var grantsPath: String?
}

extension Settings {
  /// Returns the tokens that the gateway and the console take; nil if they take none, or if the process has neither role.
  ///
  /// - Throws: `ValidationError` or ``Failure`` when the settings contradict one another.
  func tokens() throws -> TokenSource? {
    guard let issuer = text(.oidcIssuer) else {
      for key in [SettingKey.oidcAudience, .oidcKeysFile, .oidcKeysURL, .oidcGrantsFile] where text(key) != nil {
        throw refusal(.oidcIssuer, "\(key.rawValue) is set, so name the issuer of tokens, too")
      }
      return nil
    }
    guard let audience = text(.oidcAudience) else {
      throw refusal(
        .oidcAudience,
        "name the audience that the issuer writes into tokens for Rouse, so that tokens for others are refused")
    }
    let keys: TokenSource.KeysPlace
    switch (text(.oidcKeysFile), text(.oidcKeysURL)) {
    case (let path?, nil): keys = .file(path)
    case (nil, let address?): keys = .address(try issuerAddress(address))
    case (nil, nil):
      throw refusal(.oidcKeysURL, "name the address of the issuer's keys (its jwks_uri), or a file with oidc.keysFile")
    case (_?, _?): throw refusal(.oidcKeysURL, "oidc.keysFile is set, too; remove one of them")
    }
    var settings = TokenSettings(issuer: issuer, audience: audience)
    settings.rolesClaim = textOrDefault(.oidcRolesClaim)
    settings.clockSkew = .seconds(Int64(numberOrDefault(.oidcClockSkew)))
    let source = TokenSource(settings: settings, keys: keys, grantsPath: self.text(.oidcGrantsFile))
    return roles.isDisjoint(with: [.gateway, .console]) ? nil : source
  }

  /// Returns the address of the issuer's keys. Whoever can change the answer can make tokens, so it must come by TLS, or from this host.
  private func issuerAddress(_ text: String) throws -> URL {
    guard !text.contains("@") else {
      throw refusal(.oidcKeysURL, "an address with an @ is refused, because a user and password in it would be shown")
    }
    guard let url = URL(string: text), let host = url.host, ["http", "https"].contains(url.scheme?.lowercased()) else {
      throw refusal(.oidcKeysURL, "expected an address such as https://issuer.example/jwks.json, found '\(text)'")
    }
    let isLocal = HTTPAddress(host: host, port: 0).isLoopback
    guard url.scheme?.lowercased() == "https" || isLocal else {
      throw refusal(.oidcKeysURL, "\(text) is asked without TLS; expected https, or an address of this host")
    }
    return url
  }
}
