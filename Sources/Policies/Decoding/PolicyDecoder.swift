import Domain

/// The top level of a policy document; kinds and rules are in extensions of their own.
struct PolicyDecoder {
  var reader: StrictReader
  let hash: String
  /// The profile that stands behind the policy, which then holds.
  var following: BudgetProfile?

  init(reader: StrictReader, hash: String) {
    self.reader = reader
    self.hash = hash
  }

  /// The policy and its profile as it is before `limits` change it; nil where something is missing or wrong (noted).
  mutating func decode(_ root: Located) -> (policy: Policy, profile: BudgetProfile)? {
    let allowed = ["version", "profile", "limits", "quietHours", "apps", "kinds"]
    guard let keys = reader.keys(root, allowed: allowed, required: ["version", "kinds"]) else { return nil }
    let version = version(keys["version"])
    let named = profile(keys["profile"])
    let effective = limits(keys["limits"], over: named)
    let quietHours = keys["quietHours"].flatMap { self.quietHours($0) }
    let apps = apps(keys["apps"])
    var kinds: [KindPolicy] = []
    let entries = reader.named(keys["kinds"], "a kind's name", max: PolicyBounds.kindsMax)
    if let value = keys["kinds"], entries?.isEmpty == true {
      reader.error(value.node.position, value.path, "no kinds; expected at least one")
    }
    for (name, value) in entries ?? [] {
      if let kind = kind(name, value, profile: effective) { kinds.append(kind) }
    }
    guard let version, !reader.hasErrors else { return nil }
    let reference = PolicyReference(version: version, hash: hash)
    let policy = Policy(reference: reference, profile: effective, quietHours: quietHours, apps: apps, kinds: kinds)
    return (policy, named)
  }

  private mutating func version(_ value: Located?) -> String? {
    let expected = "a version such as 2026-11-20.1"
    guard let value, let text = reader.text(value, expected, bytesMax: PolicyBounds.versionBytesMax) else { return nil }
    let isToken = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isToken, !["~", "null", "true", "false"].contains(text) else {
      reader.mismatch(value, expected: "\(expected): printable ASCII without spaces")
      return nil
    }
    return text
  }

  private mutating func profile(_ value: Located?) -> BudgetProfile {
    let fallback = following ?? PolicyProfiles.standard
    guard let value, let name = reader.text(value, "the name of a profile, or the path of its file") else {
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
    if let profile = PolicyProfiles.named(name)?.profile { return profile }
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

  /// Numbers of the profile that this policy changes.
  private mutating func limits(_ value: Located?, over profile: BudgetProfile) -> BudgetProfile {
    var effective = profile
    let allowed = ["instanceReloads"] + BudgetProfile.rates.map(\.name) + ["frequentPushesFactor"]
    guard let value, let keys = reader.keys(value, allowed: allowed) else { return effective }
    if let reloads = keys["instanceReloads"],
      let fields = reader.keys(reloads, allowed: ["limit", "minInterval"])
    {
      effective.instanceReloads.provenance = Self.provenance("instanceReloads")
      if let limit = reader.integer(fields["limit"], in: PolicyBounds.perDay) {
        effective.instanceReloads.limit = limit
      }
      if let interval = reader.duration(fields["minInterval"], in: PolicyBounds.minInterval) {
        effective.instanceReloads.minInterval = interval
      }
    }
    for (name, path) in BudgetProfile.rates { rate(keys[name], &effective[keyPath: path]) }
    if let factor = reader.integer(keys["frequentPushesFactor"], in: PolicyBounds.frequentPushesFactor) {
      effective.frequentPushesFactor = factor
    }
    return effective
  }

  private mutating func rate(_ value: Located?, _ rate: inout BudgetProfile.Rate) {
    guard let value, let keys = reader.keys(value, allowed: ["limit", "window", "burst"]) else { return }
    rate.provenance = Self.provenance(String(value.path.dropFirst("limits.".count)))
    rate = read(keys, over: rate)
  }

  /// The given keys of a rate, the others from `rate`.
  mutating func read(_ keys: LocatedKeys, over rate: BudgetProfile.Rate) -> BudgetProfile.Rate {
    var rate = rate
    if let value = keys["limit"] {
      if case .scalar("unlimited", _) = value.node.content {
        _ = reader.text(value, "unlimited")
        rate.limit = nil
      } else if let limit = reader.integer(value, in: PolicyBounds.rateLimit) {
        rate.limit = limit
      }
    }
    if let window = reader.duration(keys["window"], in: PolicyBounds.rateWindow) { rate.window = window }
    if let burst = reader.integer(keys["burst"], in: PolicyBounds.burst) { rate.burst = burst }
    return rate
  }

  private static func provenance(_ name: String) -> BudgetProfile.Provenance {
    BudgetProfile.Provenance(source: "limits.\(name) of the policy", confidence: "policy")
  }

  private mutating func quietHours(_ value: Located) -> QuietHours? {
    guard
      let keys = reader.keys(value, allowed: ["from", "to", "exceptRelevance"], required: ["from", "to"])
    else { return nil }
    let from = reader.clock(keys["from"])
    let to = reader.clock(keys["to"])
    // Above 1: no relevance breaks the quiet.
    let except = reader.number(keys["exceptRelevance"], in: PolicyBounds.share) ?? 2
    guard let from, let to else { return nil }
    guard from != to else {
      reader.error(
        value.owner, value.path, "from and to are the same time; leave quietHours out, or end them at another time")
      return nil
    }
    return QuietHours(fromMinute: from, toMinute: to, exceptRelevance: except)
  }

  private mutating func apps(_ value: Located?) -> [AppBudget] {
    let entries = reader.named(value, "a bundle id", max: PolicyBounds.appsMax) ?? []
    return entries.compactMap { name, value in
      guard let keys = reader.keys(value, allowed: ["perDay"], required: ["perDay"]),
        let perDay = reader.integer(keys["perDay"], in: PolicyBounds.appPerDay)
      else { return nil }
      return AppBudget(app: name, perDay: perDay)
    }
  }
}
