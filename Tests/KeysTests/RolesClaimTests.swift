import Domain
import Foundation
import HTTPTesting
import Testing

@testable import Keys

@Suite("Roles of tokens") struct RolesClaimTests {
  private func grants(_ issued: Issued, _ claims: String, _ issuer: TestIssuer) throws -> [RoleGrant] {
    issued.verifier.grants(of: try issued.verifier.verify(issuer.token(claims), at: Issued.now))
  }

  @Test(
    "the claim is a list or words, under its name or inside of others",
    arguments: [
      ("roles", #","roles":["auditor","x"]"#, [KeyRole.auditor]),
      ("roles", #","roles":"operator auditor""#, [.operator, .auditor]),
      ("realm_access.roles", #","realm_access":{"roles":["auditor"]}"#, [.auditor]),
      ("https://a.example/roles", #","https://a.example/roles":["operator"]"#, [.operator]),
      ("a.b", #","a.b":["operator"],"a":{"b":["auditor"]}"#, [.operator]), ("roles", #","roles":{"auditor":true}"#, []),
      ("roles", #","roles":null"#, []), ("roles", #","roles":[1,["auditor"]]"#, []),
      ("other", #","roles":["auditor"]"#, []),
      ("roles", #","roles":["publisher","registrar","Auditor"]"#, []), ("a.b", #","a":["b"]"#, []),
    ])
  func claim(name: String, member: String, roles: [KeyRole]) throws {
    let issuer = try TestIssuer()
    let issued = try Issued(TestIssuer.keySet(issuer)) { $0.rolesClaim = name }
    let claims = Issued.claims(roles: [], more: member).replacing(#","roles":[]"#, with: "")
    #expect(try grants(issued, claims, issuer).map(\.role) == roles)
  }

  private static let file =
    #"{"grants":[{"value":"feed","role":"publisher","sources":["/airline/"],"types":["t"],"subjects":["flight/"]},{"value":"feed","role":"publisher","sources":["/gates/"]},{"value":"app","role":"registrar","apps":["com.example"]},{"value":"staff","role":"auditor"}]}"#

  @Test("with a file only what it says counts, and it is followed")
  func granted() throws {
    let issuer = try TestIssuer()
    let issued = try Issued(TestIssuer.keySet(issuer), grants: Self.file)
    let found = try grants(issued, Issued.claims(roles: ["feed", "app", "staff", "operator", "auditor"]), issuer)
    #expect(
      found == [
        RoleGrant(.publisher, sources: ["/airline/"], types: ["t"], subjects: ["flight/"]),
        RoleGrant(.publisher, sources: ["/gates/"]),
        RoleGrant(.registrar, apps: ["com.example"]), RoleGrant(.auditor),
      ])
    let token = try issued.verifier.verify(issuer.token(Issued.claims(roles: ["staff"])), at: Issued.now)
    try issued.put(#"{"grants":[{"value":"staff","role":"operator"}]}"#, "grants")
    #expect(issued.verifier.grants(of: token).map(\.role) == [.operator])
    try issued.put("oops", "grants")
    #expect(issued.verifier.grants(of: token).map(\.role) == [.operator])
    try issued.put(#"{"grants":[]}"#, "grants")
    #expect(issued.verifier.grants(of: token).isEmpty)
  }

  @Test(
    "a file of grants that would allow more than it says is refused with the place",
    arguments: [
      ("{}", "$.grants"), (#"{"grants":[{}]}"#, "$.grants[0].role"),
      (#"{"grants":[{"role":"boss","value":"a"}]}"#, "$.grants[0].role"),
      (#"{"grants":[{"role":"auditor"}]}"#, "$.grants[0].value"),
      (#"{"grants":[{"role":"publisher","value":"a"}]}"#, "$.grants[0].sources"),
      (#"{"grants":[{"role":"publisher","value":"a","sources":[]}]}"#, "$.grants[0].sources"),
      (#"{"grants":[{"role":"publisher","value":"a","sources":["/"],"type":["t"]}]}"#, "$.grants[0].type"),
      (#"{"grants":[{"role":"auditor","value":"a","subjects":["b"]}]}"#, "$.grants[0].subjects"),
      (#"{"grants":[{"role":"registrar","value":"a"}]}"#, "$.grants[0].apps"),
      (#"{"grants":[{"role":"auditor","value":"a","apps":["b"]}]}"#, "$.grants[0].apps"),
      (#"{"grants":[],"grant":1}"#, "$.grant"), ("[", "byte"),
    ])
  func refused(text: String, place: String) {
    let error = #expect(throws: TokenGrantsError.self) { try TokenGrants(Array(text.utf8)) }
    #expect(error?.description.contains(place) == true, "\(error?.description ?? "none")")
  }

  @Test("a key set keeps the keys that can check a signature, and counts the others")
  func keySet() throws {
    let (rsa, point) = (try TestIssuer(.rs256, keyID: "rsa"), try TestIssuer(.es256, keyID: "ec"))
    let keys = [
      try rsa.key(#","use":"sig","alg":"RS256""#), try rsa.key(#","use":"enc","alg":"RSA-OAEP""#),
      try rsa.key(#","alg":"ES256""#),
      try point.key(#","key_ops":["verify"]"#), try point.key(#","key_ops":["deriveKey"]"#),
      try point.key().replacing("P-256", with: "secp256k1"), try point.key().replacing("P-256", with: "P-384"),
      try point.key().replacing("\"x\":\"", with: "\"x\":\"A"), #"{"kty":"oct","k":"c2VjcmV0","kid":"s"}"#,
      #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"OKP","crv":"X25519","x":"AAAA"}"#, "1", "{}", "null",
    ]
    let set = try IssuerKeySet(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    #expect(set.keys.map(\.id) == ["rsa", "ec"] && set.unusedCount == keys.count - 2)
    #expect(set.keys.map(\.algorithms) == [[.rs256], [.es256]])
    for text in [
      "", "{}", "[]", #"{"keys":{}}"#, #"{"keys":[\#(Array(repeating: "{}", count: 101).joined(separator: ","))]}"#,
    ] {
      #expect(throws: IssuerKeysError.self, "\(text)") { try IssuerKeySet(Array(text.utf8)) }
    }
    #expect(throws: IssuerKeysError.self) { try IssuerKeySet([UInt8](repeating: 0x20, count: (1 << 20) + 1)) }
  }
}
