import Domain
import Foundation
import HTTPTesting
import Serving
import Testing

@testable import Keys

@Suite("Authenticator") struct AuthenticatorTests {
  private func refusal(_ access: Authenticator, _ authorization: String?) -> CredentialRefusal? {
    do throws(CredentialRefusal) { _ = try access.principal(authorization: authorization, now: Issued.now) } catch {
      return error
    }
    return nil
  }

  @Test("keys and tokens are told apart, and each is refused where only the other is taken")
  func apart() throws {
    let issuer = try TestIssuer()
    let issued = try Issued(TestIssuer.keySet(issuer))
    var file = KeyFile()
    let (key, secret) = AccessKey.make(.operator, created: Issued.now)
    file.keys = [key]
    let path = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString).json").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try file.write(to: path)
    let keys = try KeyRing(path: path, recordsPerSecond: nil, logger: Issued.silent)
    let token = try issuer.token(Issued.claims())
    let both = Authenticator(keys: keys, tokens: issued.verifier)
    let named = try both.principal(authorization: "Bearer \(secret)", now: Issued.now)
    #expect(named.name == key.id && named.roles == [.operator] && named.credential == .key)
    let subject = try both.principal(authorization: "bearer  \(token) ", now: Issued.now)
    #expect(subject.name == "anna" && subject.roles == [.auditor] && subject.credential == .token)
    let keysOnly = refusal(Authenticator(keys: keys), "Bearer \(token)")
    #expect(keysOnly?.cause == .unknownKey && keysOnly?.problem.detail == "this server takes keys, and no tokens")
    let tokensOnly = refusal(Authenticator(keys: nil, tokens: issued.verifier), "Bearer \(secret)")
    #expect(tokensOnly?.problem.detail == "this server takes tokens of its issuer, and no keys")
    for (authorization, cause) in [
      (nil, CredentialFault.noCredential), ("Basic YTpi", .unknownKey), ("Bearer", .unknownKey),
      ("Bearer a.b.c", .refusedToken),
      ("Bearer rouse_no", .unknownKey),
    ] as [(String?, CredentialFault)] {
      let found = try #require(refusal(both, authorization))
      #expect(found.cause == cause && found.problem.kind == .unauthorized)
      let challenge = found.problem.answer.headers.first { $0.name == "www-authenticate" }?.value
      #expect(
        challenge
          == (cause == .noCredential ? #"Bearer realm="rouse""# : #"Bearer realm="rouse", error="invalid_token""#))
    }
    #expect(keysOnly.map { "\($0)".contains(token) } == false)
  }

  @Test("each subject has a rate of its own, and the rates are bounded")
  func rates() throws {
    let issuer = try TestIssuer()
    let access = Authenticator(
      keys: nil, tokens: try Issued(TestIssuer.keySet(issuer)).verifier, recordsPerSecond: 1)
    func bucket(_ subject: String) throws -> TokenBucket {
      let token = try issuer.token(Issued.claims(subject, more: ",\"jti\":\"\(UUID())\""))
      return try #require(try access.principal(authorization: "Bearer \(token)", now: Issued.now).bucket)
    }
    try bucket("anna").take(1000)
    #expect(try bucket("anna").secondsUntilAdmitted() != nil, "another token of the subject has the same rate")
    #expect(try bucket("bob").secondsUntilAdmitted() == nil)
    let (rates, start) = (PrincipalRates(perSecond: 1), ContinuousClock.now)
    for number in 0..<PrincipalRates.subjectsMax { rates.bucket(of: "s\(number)", at: start).take(1, at: start) }
    let shared = rates.bucket(of: "x", at: start)
    #expect(shared === rates.bucket(of: "y", at: start) && shared !== rates.bucket(of: "s0", at: start))
    // A second later all are full again, and forgotten.
    #expect(rates.bucket(of: "x", at: start + .seconds(1)) !== shared)
  }
}
