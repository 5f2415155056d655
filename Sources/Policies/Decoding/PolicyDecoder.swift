import Domain

/// Reads policy and profile documents. The keys are described in `PolicyKeys`; this type holds the code for values that need
/// more than a description, and the checks of keys against each other.
struct PolicyDecoder {
  /// The reader of single values, which collects the mistakes that are found.
  var reader: StrictReader
  /// The first 16 hexadecimal digits of the SHA-256 of the document and its profile.
  let hash: String
  /// The profile that follows the policy in the same file; it applies regardless of the key `profile`. Nil if none follows.
  var following: BudgetProfile?

  init(reader: StrictReader, hash: String) {
    self.reader = reader
    self.hash = hash
  }

  /// Reads a whole document.
  /// - Returns: the policy, and the profile that it names, without the changes of `limits`. Nil if anything is missing
  ///   or wrong, which has been noted.
  mutating func decode(_ root: Located) -> (policy: Policy, profile: BudgetProfile)? {
    var draft = PolicyDraft(profile: following ?? PolicyProfiles.standard)
    guard read(root, PolicyKeys.policy, into: &draft) != nil, let version = draft.version, !reader.hasErrors else {
      return nil
    }
    let policy = Policy(
      reference: PolicyReference(version: Identifier(version), hash: Identifier(hash)), profile: draft.effective,
      quietHours: draft.quietHours,
      apps: draft.apps, kinds: draft.kinds)
    for kind in policy.kinds where !kind.surface.showsActivities { checkReserve(kind, policy.quietHours) }
    return (policy, draft.named)
  }

  /// Reads `kinds`.
  mutating func kinds(_ value: Located, profile: BudgetProfile) -> [KindPolicy] {
    let entries = reader.named(value, "a kind's name", max: PolicyBounds.kindsMax)
    if entries?.isEmpty == true {
      reader.error(value.node.position, value.path, "no kinds; expected at least one")
    }
    return (entries ?? []).compactMap { name, value in kind(name, value, profile: profile) }
  }

  /// Reads `version`.
  mutating func version(_ value: Located) -> String? {
    let expected = "a version such as 2026-11-20.1"
    guard let text = reader.text(value, expected, bytesMax: PolicyBounds.versionBytesMax) else { return nil }
    let isToken = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isToken, !ScalarText.isWord(text) else {
      reader.mismatch(value, expected: "\(expected): printable ASCII without spaces")
      return nil
    }
    return text
  }

  /// Reads `profile`, and returns the profile that follows the policy. If none follows, notes an error and returns the
  /// default profile.
  mutating func profile(_ value: Located) -> BudgetProfile {
    let fallback = following ?? PolicyProfiles.standard
    guard let name = reader.text(value, "the name of a profile, or the path of its file") else {
      return fallback
    }
    if let following {
      if following.name != name, !ProfileReference.isPath(name) {
        reader.warning(
          value.node.position, value.path,
          "\(Excerpt.quoted(name)) does not hold: the policy goes with the profile \(Excerpt.quoted(following.name))")
      }
      return following
    }
    guard !ProfileReference.isPath(name) else {
      reader.error(
        value.node.position, value.path,
        "names a file, and no profile follows the policy; expected it after a line ---, where rouse policy apply puts it"
      )
      return fallback
    }
    let names = PolicyProfiles.all.map(\.profile.name)
    reader.error(
      value.node.position, value.path,
      "unknown profile \(Excerpt.quoted(name))\(StrictReader.suggestion(name, names)) expected one of \(StrictReader.list(names)), or a file such as ./my-profile.yaml"
    )
    return fallback
  }

  /// Reads `quietHours`.
  mutating func quietHours(_ value: Located) -> QuietHours? {
    // An exception above 1 means that no relevance breaks the quiet. Times that cannot be read stay different.
    var quiet = QuietHours(fromMinute: -1, toMinute: -2, exceptRelevance: 2)
    guard read(value, PolicyKeys.quietHours, into: &quiet) != nil else { return nil }
    if quiet.fromMinute == quiet.toMinute {
      reader.error(
        value.owner, value.path, "from and to are the same time; leave quietHours out, or end them at another time")
    }
    return quiet
  }

  /// Reads `apps`.
  mutating func apps(_ value: Located) -> [AppBudget] {
    let entries = reader.named(value, "a bundle id", max: PolicyBounds.appsMax) ?? []
    return entries.map { name, value in
      var budget = AppBudget(app: name, perDay: 1)
      _ = read(value, PolicyKeys.app, into: &budget)
      return budget
    }
  }
}

extension BudgetProfile.Provenance {
  /// The source of a number that the `limits` of a policy set.
  static func policy(_ name: String) -> Self { Self(source: "limits.\(name) of the policy", confidence: "policy") }
}
