import Domain
import Foundation
import HTTPTesting
import Observing
import Testing

@testable import Keys

@Suite("Tokens") struct TokenTests {
  private static let hour = Issued.now + .hours(1)

  @Test(
    "a token of each algorithm is accepted, and none with another payload or signature",
    arguments: TestIssuer.Algorithm.allCases)
  func algorithms(_ algorithm: TestIssuer.Algorithm) throws {
    let issuer = try TestIssuer(algorithm)
    let issued = try Issued(TestIssuer.keySet(issuer))
    let token = try issuer.token(Issued.claims())
    let verified = try issued.verifier.verify(token, at: Issued.now)
    #expect(verified.subject == "anna" && verified.values == ["auditor"] && verified.expires == Self.hour)
    let parts = token.split(separator: ".").map(String.init)
    let other = TestIssuer.base64(Data(Issued.claims(roles: ["operator"]).utf8))
    #expect(issued.refusal("\(parts[0]).\(other).\(parts[2])") == .signature)
    // The first character is not the last, of which some bits do not count.
    let broken = (parts[2].hasPrefix("A") ? "B" : "A") + parts[2].dropFirst()
    #expect(issued.refusal("\(parts[0]).\(parts[1]).\(broken)") == .signature)
    #expect(issued.refusal("\(parts[0]).\(parts[1]).") == .signature)
    #expect(issued.refusal("\(parts[0]).\(parts[1]).\(parts[2].prefix(8))") == .signature)
  }

  @Test("signatures of other programs are right: the examples of RFC 7515 and RFC 8037")
  func examples() throws {
    let rsa =
      #"{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}"#
    let claims =
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    let point =
      #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
    let edwards = #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
    let examples: [(key: String, SignatureAlgorithm, text: String, signature: String)] = [
      (
        rsa, .rs256, "eyJhbGciOiJSUzI1NiJ9.\(claims)",
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
      ),
      (
        point, .es256, "eyJhbGciOiJFUzI1NiJ9.\(claims)",
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
      ),
      (
        edwards, .edDSA, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
      ),
    ]
    for (text, algorithm, signed, signature) in examples {
      let key = try #require(try IssuerKeySet(Array(#"{"keys":[\#(text)]}"#.utf8)).keys.first, "\(algorithm)")
      let bytes = try #require(Base64URL.decode(signature.utf8))
      #expect(key.isValid(bytes, of: Array(signed.utf8), algorithm), "\(algorithm)")
      #expect(!key.isValid(bytes, of: Array((signed + "a").utf8), algorithm), "\(algorithm)")
    }
  }

  @Test("each check refuses with its own words, and none of them repeats the token")
  func refusals() throws {
    let issuer = try TestIssuer(.rs256)
    let stranger = try TestIssuer(.es256, keyID: "key-9")
    let curve = try TestIssuer(.es256, keyID: "curve")
    let issued = try Issued(TestIssuer.keySet(issuer, curve))
    func header(_ alg: String, _ more: String = "") -> String { #"{"alg":"\#(alg)","kid":"key-1"\#(more)}"# }
    func without(_ claim: String) -> String { Issued.claims().replacing("\"\(claim)\":", with: "\"x-\(claim)\":") }
    let good = Issued.claims()
    let unsigned = "\(TestIssuer.base64(Data(header("none").utf8))).\(TestIssuer.base64(Data(good.utf8)))."
    let cases: [(String, String, TokenRefusal)] = [
      (
        "another issuer", try issuer.token(good.replacing("issuer.example", with: "evil.example")),
        .issuer(expected: TestIssuer.name)
      ),
      ("no issuer", try issuer.token(without("iss")), .claim("iss is missing, or is no text")),
      (
        "another audience", try issuer.token(good.replacing("\"rouse\"", with: "\"mail\"")),
        .audience(expected: "rouse")
      ),
      (
        "audiences without it", try issuer.token(good.replacing("\"rouse\"", with: "[\"mail\",\"chat\"]")),
        .audience(expected: "rouse")
      ),
      ("no audience", try issuer.token(without("aud")), .claim("aud is missing")),
      ("expired", try issuer.token(TestIssuer.claims(expires: Int(Issued.seconds) - 60)), .expired(subject: "anna")),
      ("no end", try issuer.token(without("exp")), .claim("exp is missing, or is no time")),
      (
        "an end in words",
        try issuer.token(Issued.claims(more: "").replacing("\"exp\":", with: "\"exp\":\"1\",\"e\":")),
        .claim("exp is missing, or is no time")
      ),
      ("not yet", try issuer.token(Issued.claims(more: ",\"nbf\":\(Issued.seconds + 61)")), .notYetValid),
      ("a beginning that is none", try issuer.token(Issued.claims(more: ",\"nbf\":null")), .claim("nbf is no time")),
      ("no subject", try issuer.token(without("sub")), .claim("sub is missing, or is no text")),
      ("an empty subject", try issuer.token(Issued.claims("")), .claim("sub is missing, or is no text")),
      (
        "a long subject", try issuer.token(Issued.claims(String(repeating: "a", count: 256))),
        .claim("sub has more than 255 bytes")
      ),
      ("none", unsigned, .algorithm), ("NONE", try issuer.token(good, header: header("NONE")), .algorithm),
      ("no algorithm", try issuer.token(good, header: "{}"), .algorithm),
      (
        "HS256 with the public key", TestIssuer.symmetricToken(good, keyID: "key-1", secret: issuer.publicPEM),
        .algorithm
      ),
      ("an unknown key", try stranger.token(good), .unknownKey),
      ("another type of key", try curve.token(good, header: header("ES256")), .otherAlgorithm),
      ("another padding", try issuer.token(good, header: header("PS256")), .signature),
      ("another key", try stranger.token(good, header: #"{"alg":"ES256","kid":"curve"}"#), .signature),
      ("an id that is no text", try issuer.token(good, header: #"{"alg":"RS256","kid":1}"#), .malformed),
      ("a logout token", try issuer.token(good, header: header("RS256", #","typ":"logout+jwt""#)), .otherSort),
      ("extensions", try issuer.token(good, header: header("RS256", #","crit":["b64"],"b64":false"#)), .otherSort),
      ("two parts", "e30.e30", .malformed), ("four parts", try issuer.token(good) + ".e30", .malformed),
      ("padding", try issuer.token(good) + "=", .malformed), ("blanks", "e30 .e30.e30", .malformed),
      ("dots", "..", .malformed),
      ("no JSON", try issuer.token("anna"), .malformed), ("a list", try issuer.token("[]"), .malformed),
      ("deep", try issuer.token(String(repeating: "[", count: 99) + String(repeating: "]", count: 99)), .malformed),
      (
        "too long", try issuer.token(Issued.claims(more: ",\"x\":\"\(String(repeating: "a", count: 8192))\"")), .tooLong
      ),
    ]
    for (name, token, refusal) in cases {
      let found = issued.refusal(token)
      #expect(found == refusal, "\(name): \(found.map { "\($0)" } ?? "accepted")")
      let words = found.map { "\($0)" } ?? ""
      for part in token.split(separator: ".") where part.count > 8 { #expect(!words.contains(part), "\(name)") }
      #expect(TokenRefusal.checks.contains(found?.check ?? ""), "\(name)")
    }
    #expect(issued.refusal(try issuer.token(good)) == nil)
  }

  @Test("times have a tolerance, and an audience may be one of several")
  func tolerance() throws {
    let issuer = try TestIssuer()
    let issued = try Issued(TestIssuer.keySet(issuer))
    let late = try issuer.token(TestIssuer.claims(expires: Int(Issued.seconds) - 59))
    #expect(issued.refusal(late) == nil)
    #expect(issued.refusal(late, at: Issued.now + .seconds(1)) == .expired(subject: "anna"))
    #expect(issued.refusal(try issuer.token(Issued.claims(more: ",\"nbf\":\(Issued.seconds + 60).0"))) == nil)
    let several = Issued.claims().replacing("\"rouse\"", with: "[\"mail\",\"rouse\"]")
    #expect(issued.refusal(try issuer.token(several)) == nil)
    let endless = Issued.claims().replacing("\(Issued.seconds + 3600)", with: "1e300")
    #expect(issued.refusal(try issuer.token(endless)) == nil)
  }

  @Test("a token that does not name its key is accepted while only one key can have signed it")
  func unnamed() throws {
    let (issuer, other) = (try TestIssuer(.es256), try TestIssuer(.edDSA, keyID: "key-2"))
    let issued = try Issued(TestIssuer.keySet(issuer, other))
    let token = try issuer.token(Issued.claims(), header: #"{"alg":"ES256"}"#)
    #expect(issued.refusal(token) == nil)
    try issued.put(TestIssuer.keySet(issuer, TestIssuer(.es256, keyID: "key-3")), "keys")
    let second = try issuer.token(Issued.claims("bob"), header: #"{"alg":"ES256"}"#)
    #expect(issued.refusal(second) == .unnamedKey)
  }

  @Test("a token that is sent again costs no signature check, and ends when it expires or its key is withdrawn")
  func repeated() throws {
    let (issuer, next) = (try TestIssuer(keyID: "old"), try TestIssuer(keyID: "new"))
    let issued = try Issued(TestIssuer.keySet(issuer))
    let token = try issuer.token(Issued.claims())
    let verified = try issued.verifier.verify(token, at: Issued.now)
    #expect(try issued.verifier.verify(token, at: Issued.now) == verified)
    let exposition = String(decoding: Exposition.bytes(of: issued.registry, as: .prometheus), as: UTF8.self)
    #expect(exposition.contains("rouse_oidc_tokens_total{outcome=\"accepted\"} 1\n"))
    #expect(exposition.contains("rouse_oidc_tokens_total{outcome=\"repeated\"} 1\n"))
    let end = Self.hour + .seconds(60)
    #expect(issued.verifier.isInForce(verified, at: end - .seconds(1)) && !issued.verifier.isInForce(verified, at: end))
    #expect(issued.refusal(token, at: end) == .expired(subject: "anna"))
    try issued.put(TestIssuer.keySet(issuer, next), "keys")
    #expect(try issued.refusal(token) == nil && issued.refusal(next.token(Issued.claims())) == nil)
    try issued.put(TestIssuer.keySet(next), "keys")
    #expect(issued.refusal(token) == .unknownKey && !issued.verifier.isInForce(verified, at: Issued.now))
    // Another key under the same id.
    let impostor = try TestIssuer(keyID: "old")
    try issued.put(TestIssuer.keySet(impostor), "keys")
    #expect(issued.refusal(token) == .signature && !issued.verifier.isInForce(verified, at: Issued.now))
  }

  @Test("more tokens than are remembered are checked again")
  func remembered() throws {
    let issuer = try TestIssuer()
    let issued = try Issued(TestIssuer.keySet(issuer))
    for number in 0...TokenVerifier.knownTokensMax {
      #expect(issued.refusal(try issuer.token(Issued.claims("s\(number)"))) == nil)
    }
  }
}
