public import Domain

/// The budget profiles that come with this version: each number with its source and how sure it is. Their files are in
/// `Profiles/`. The compiler puts them into the program, so that the program needs no other file.
public enum PolicyProfiles {
  /// The profiles, sorted by name. The first is the default.
  public static let all: [ProfileDocument] = [
    compiledIn(PackageResources.apple_2026_yaml, "apple-2026"),
    compiledIn(PackageResources.apple_conservative_yaml, "apple-conservative"),
    compiledIn(PackageResources.harmonyos_cards_yaml, "harmonyos-cards"),
  ]

  /// The profile of a policy that names none.
  public static var standard: BudgetProfile { all[0].profile }

  /// Returns the built-in profile with a name; nil if there is none.
  public static func named(_ name: String) -> ProfileDocument? { all.first { $0.profile.name == name } }

  /// The minimum interval of kinds marked `timeSensitive`, regardless of the profile. Apple asks for timeline entries at
  /// least about 5 minutes apart ("Keeping a widget up to date"), so a shorter one would buy nothing.
  public static let timeSensitiveMinInterval = TimeSpan.minutes(5)

  /// Reads a profile from a user's file. A profile with the name of a built-in one is refused, unless it equals that
  /// one.
  /// - Parameters:
  ///   - bytes: the bytes of the file, which need not be valid in any way.
  ///   - file: the name that messages use.
  /// - Throws: `PolicyError` with every problem found, each with its place.
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
