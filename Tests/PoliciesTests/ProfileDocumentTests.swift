import Domain
import Testing

@testable import Policies

/// Profiles as files, and policies that carry their profile behind them.
@Suite struct ProfileDocumentTests {
  private static let folder = "schemas/examples/profile"
  private static let policy = """
    version: 1
    profile: ./field-test.yaml # ours
    kinds: { K: { halfLife: 1m, rules: [{ event: "*", relevance: { base: 1 } }] } }
    """

  private static func own() throws -> ProfileDocument {
    try PolicyProfiles.own(bytes: try Repository.bytes("\(folder)/valid/field-test.yaml"), file: "field-test.yaml")
  }

  private static func problems(_ body: () throws -> Void) throws -> [String] {
    do {
      try body()
    } catch let error as PolicyError {
      return error.problems.map(\.description)
    }
    return []
  }

  @Test("a valid example of a profile is read")
  func valid() throws {
    let names = try Repository.names(in: "\(Self.folder)/valid", suffix: ".yaml")
    #expect(!names.isEmpty)
    for name in names {
      _ = try PolicyProfiles.own(bytes: try Repository.bytes("\(Self.folder)/valid/\(name)"), file: name)
    }
    let profile = try Self.own().profile
    #expect(profile.instanceReloads.limit == 55 && profile.controlPushes.limit == nil)
    #expect(profile.activityStarts.window == .hours(24) && profile.frequentPushesFactor == 2)
  }

  @Test("an invalid example of a profile is refused with exactly the problems that are written beside it")
  func invalid() throws {
    let names = try Repository.names(in: "\(Self.folder)/invalid", suffix: ".yaml")
    #expect(names.count >= 3)
    for name in names {
      let expected = try Repository.text("\(Self.folder)/invalid/\(name.dropLast(5)).problems.txt")
      let found = try Self.problems {
        _ = try PolicyProfiles.own(bytes: try Repository.bytes("\(Self.folder)/invalid/\(name)"), file: name)
      }
      #expect(found.map { "\($0)\n" }.joined() == expected, "\(name)")
    }
  }

  @Test("the profile of a policy is known before the rest of the policy is read")
  func reference() throws {
    func reference(_ text: String) throws -> ProfileReference {
      try PolicyDocument.profileReference(in: Array(text.utf8), file: "p.yaml")
    }
    #expect(try reference(Self.policy) == .file(path: "./field-test.yaml", line: 2, column: 10))
    #expect(try reference("profile: 'limits.yml'") == .file(path: "limits.yml", line: 1, column: 10))
    #expect(try reference("{ profile: harmonyos-cards, kinds: wrong }") == .builtIn("harmonyos-cards"))
    #expect(try reference("version: 1") == .builtIn("apple-2026"))
    #expect(try reference("--- # first\nversion: 1") == .builtIn("apple-2026"))
    #expect(try reference("version: 1\n---\nname: x") == .follows)
    #expect(throws: PolicyError.self) { try reference("profile: [") }
  }

  @Test("a policy with its profile reads the same from its text alone, under a hash that covers both")
  func together() throws {
    let bytes = Array(Self.policy.utf8)
    let own = try Self.own()
    let document = try PolicyDocument(bytes: bytes, file: "p.yaml", profile: own)
    #expect(document.policy.profile == own.profile)
    #expect(document.warnings == [])
    let again = try PolicyDocument(yaml: document.text, file: "rouse.log")
    #expect(again.policy == document.policy)
    var other = own.text
    other.replace("limit: 8", with: "limit: 9")
    let changed = try PolicyDocument(
      bytes: bytes, file: "p.yaml", profile: try PolicyProfiles.own(bytes: Array(other.utf8), file: "o.yaml"))
    #expect(changed.policy.reference.hash != document.policy.reference.hash)
    #expect(changed.policy.profile.devicePushes.limit == 9)
    // A policy that is in the log already can get another profile instead.
    let replaced = try PolicyDocument(
      bytes: Array(document.text.utf8), file: "p.yaml", profile: try #require(PolicyProfiles.named("harmonyos-cards")))
    #expect(replaced.policy.profile.name == "harmonyos-cards")
    #expect(try PolicyDocument.profileReference(in: Array(replaced.text.utf8), file: "") == .follows)
  }

  @Test("a policy alone gets the profile that it names, and its record is refused without one")
  func alone() throws {
    let text = Self.policy.replacing("./field-test.yaml", with: "apple-conservative")
    let document = try PolicyDocument(yaml: text, file: "p.yaml")
    let profile = try #require(PolicyProfiles.named("apple-conservative"))
    #expect(document.policy.profile == profile.profile)
    #expect(document.text.hasPrefix(text) && document.text.hasSuffix(profile.text))
    let hash = SHA256.hexDigest(of: Array(document.text.utf8)).prefix(16)
    #expect(document.policy.reference.hash.text == String(hash))
    #expect(try PolicyDocument(record: document.text, file: "rouse.log").policy == document.policy)
    let problems = try Self.problems { _ = try PolicyDocument(record: text, file: "rouse.log") }
    #expect(
      problems == [
        "rouse.log:1:1: error: no profile follows the policy; apply the policy with rouse policy apply, which adds the profile"
      ])
  }

  @Test(
    "a policy without content is refused as such, not for the profile that is appended", arguments: ["", "# none\n"])
  func empty(text: String) throws {
    let profile = try #require(PolicyProfiles.named("apple-2026"))
    let expected = try Self.problems { _ = try PolicyDocument(whole: Array(text.utf8), file: "p.yaml") }
    #expect(expected.count == 1)
    for read in [
      { _ = try PolicyDocument(yaml: text, file: "p.yaml") },
      { _ = try PolicyDocument(bytes: Array(text.utf8), file: "p.yaml", profile: profile) },
    ] { #expect(try Self.problems(read) == expected) }
  }

  @Test("line ends, a mark at the beginning and markers of documents do not matter")
  func spellings() throws {
    let own = try Self.own()
    let crlf = Self.policy.replacing("\n", with: "\r\n")
    for text in [
      Self.policy + "\n", "\u{FEFF}" + Self.policy, "# p\n---\n" + Self.policy, crlf, Self.policy + "\n...\n",
    ] {
      let marked = try ProfileDocument(bytes: Array(("\u{FEFF}---\n" + own.text).utf8), file: "f.yaml")
      for profile in [own, marked] {
        let document = try PolicyDocument(bytes: Array(text.utf8), file: "p.yaml", profile: profile)
        #expect(document.policy.profile == own.profile, "\(text)")
        #expect(document.policy.kinds.count == 1)
      }
    }
  }

  @Test("mistakes in a profile are reported with the lines of its file, or of the file that holds both documents")
  func places() throws {
    let bad = try Self.own().text.replacing("limit: 8", with: "limit: 0")
    let line = try #require(
      bad.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("limit: 0") })
    let alone = try Self.problems { _ = try PolicyProfiles.own(bytes: Array(bad.utf8), file: "f.yaml") }
    #expect(alone.count == 1 && alone[0].hasPrefix("f.yaml:\(line + 1):24: error: devicePushes.limit: "), "\(alone)")
    let both = try Self.problems { _ = try PolicyDocument(yaml: Self.policy + "\n---\n" + bad, file: "p.yaml") }
    #expect(
      both.count == 1 && both[0].hasPrefix("p.yaml:\(line + 5):24: error: profile.devicePushes.limit: "), "\(both)")
  }
}
