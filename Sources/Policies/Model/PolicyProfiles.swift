public import Domain

/// The budget profiles that come with this version, as data: each number with its source and how sure it is. Their files
/// are in `Profiles/`; the compiler puts them into the program, which needs no file beside it.
public enum PolicyProfiles {
  /// Sorted by name; the first is the default.
  public static let all: [ProfileDocument] = [
    compiledIn(PackageResources.apple_2026_yaml, "apple-2026"),
    compiledIn(PackageResources.apple_conservative_yaml, "apple-conservative"),
    compiledIn(PackageResources.harmonyos_cards_yaml, "harmonyos-cards"),
  ]

  /// The profile of a policy that names none.
  public static var standard: BudgetProfile { all[0].profile }

  public static func named(_ name: String) -> ProfileDocument? { all.first { $0.profile.name == name } }

  /// Minimum interval of kinds marked `timeSensitive`, whatever the profile says. Apple asks for timeline entries at
  /// least about 5 minutes apart ("Keeping a widget up to date"), so a shorter one would buy nothing.
  public static let timeSensitiveMinInterval = TimeSpan.minutes(5)

  /// A profile from somebody's own file. It may not pass for one that comes with this version.
  public static func own(bytes: [UInt8], file: String) throws(PolicyError) -> ProfileDocument {
    let document = try ProfileDocument(bytes: bytes, file: file)
    let name = document.profile.name
    if let builtIn = named(name), builtIn.profile != document.profile {
      throw PolicyError(problems: [
        PolicyProblem(
          severity: .error, file: file, line: document.namePosition.line, column: document.namePosition.column,
          path: "name", message: "\(name) comes with Rouse and has other values there; give this profile another name")
      ])
    }
    return document
  }

  private static func compiledIn(_ bytes: [UInt8], _ name: String) -> ProfileDocument {
    do {
      return try ProfileDocument(bytes: bytes, file: "\(name).yaml")
    } catch {
      preconditionFailure("a built-in profile does not read: \(error)")
    }
  }
}

extension PolicyDecoder {
  /// A whole profile: every number and its provenance are required. Profiles stand in logs: a key that comes later must
  /// have a default.
  mutating func budgetProfile(_ root: Located) -> BudgetProfile? {
    let parts =
      ["name", "instanceReloads"] + BudgetProfile.rates.map(\.name) + [
        "frequentPushesFactor", "payload", "payloadBands",
      ]
    guard let keys = reader.keys(root, allowed: parts, required: parts) else { return nil }
    let name = reader.text(keys["name"], "a name")
    let reloads = keys["instanceReloads"].flatMap { perDay($0) }
    let factor = reader.integer(keys["frequentPushesFactor"], in: PolicyBounds.frequentPushesFactor)
    let rates = BudgetProfile.rates.map { ($0.path, keys[$0.name].flatMap { wholeRate($0) }) }
    let payload = keys["payload"].flatMap { payloadLimit($0) }
    let bands = keys["payloadBands"].flatMap { payloadBands($0, limit: payload?.limit) }
    guard let name, let reloads, let factor, let payload, let bands, !reader.hasErrors else { return nil }
    var profile = BudgetProfile(
      name: name, instanceReloads: reloads, devicePushes: .unlimited, backgroundPushes: .unlimited,
      frequentPushesFactor: factor, payload: payload, payloadBands: bands)
    for case (let path, let rate?) in rates { profile[keyPath: path] = rate }
    return profile
  }

  private mutating func perDay(_ value: Located) -> BudgetProfile.PerDay? {
    let parts = ["limit", "minInterval", "source", "confidence"]
    guard let keys = reader.keys(value, allowed: parts, required: parts) else { return nil }
    let limit = reader.integer(keys["limit"], in: PolicyBounds.perDay)
    let interval = reader.duration(keys["minInterval"], in: PolicyBounds.minInterval)
    guard let limit, let interval, let provenance = provenance(keys) else { return nil }
    return BudgetProfile.PerDay(limit: limit, minInterval: interval, provenance: provenance)
  }

  private mutating func wholeRate(_ value: Located) -> BudgetProfile.Rate? {
    let parts = ["limit", "window", "burst", "source", "confidence"]
    guard let keys = reader.keys(value, allowed: parts, required: parts), let provenance = provenance(keys) else {
      return nil
    }
    return read(keys, over: BudgetProfile.Rate(limit: nil, window: .hours(1), burst: 1, provenance: provenance))
  }

  private mutating func payloadLimit(_ value: Located) -> BudgetProfile.PayloadLimit? {
    let parts = ["limit", "broadcastLimit", "source", "confidence"]
    guard let keys = reader.keys(value, allowed: parts, required: parts) else { return nil }
    let limit = reader.integer(keys["limit"], in: PolicyBounds.payloadBytes)
    let broadcast = reader.integer(keys["broadcastLimit"], in: PolicyBounds.payloadBytes)
    guard let limit, let broadcast, let provenance = provenance(keys) else { return nil }
    return BudgetProfile.PayloadLimit(limit: limit, broadcastLimit: broadcast, provenance: provenance)
  }

  private mutating func payloadBands(_ value: Located, limit: Int?) -> BudgetProfile.PayloadBands? {
    let parts = ["safe", "watch", "risky", "source", "confidence"]
    guard let keys = reader.keys(value, allowed: parts, required: parts) else { return nil }
    let safe = reader.integer(keys["safe"], in: PolicyBounds.payloadBytes)
    let watch = reader.integer(keys["watch"], in: PolicyBounds.payloadBytes)
    let risky = reader.integer(keys["risky"], in: PolicyBounds.payloadBytes)
    guard let safe, let watch, let risky, let provenance = provenance(keys) else { return nil }
    guard safe <= watch, watch <= risky, risky <= limit ?? risky else {
      reader.error(value.owner, value.path, "expected safe, watch, risky and the limit of payload in rising order")
      return nil
    }
    return BudgetProfile.PayloadBands(safe: safe, watch: watch, risky: risky, provenance: provenance)
  }

  private mutating func provenance(_ keys: LocatedKeys) -> BudgetProfile.Provenance? {
    let source = reader.text(keys["source"], "where the number comes from")
    let confidence = reader.choice(keys["confidence"], among: ["high", "medium", "low", "inference"])
    guard let source, let confidence else { return nil }
    return BudgetProfile.Provenance(source: source, confidence: confidence)
  }
}
