public import Domain

/// A validated policy, in the form that planners use. `PolicyDocument` makes one from a YAML text.
public struct Policy: Equatable, Sendable {
  /// The version and content hash. Every decision carries them.
  public var reference: PolicyReference
  /// The limits of the platform, with the changes of the policy.
  public var profile: BudgetProfile
  /// The quiet hours; nil if there are none.
  public var quietHours: QuietHours?
  /// The limits of whole apps, sorted by bundle id.
  public var apps: [AppBudget]
  /// The policies of the kinds, sorted by name.
  public var kinds: [KindPolicy]

  /// Creates a policy from its parts. Apps and kinds are sorted; nothing else is checked.
  public init(
    reference: PolicyReference, profile: BudgetProfile, quietHours: QuietHours? = nil, apps: [AppBudget] = [],
    kinds: [KindPolicy]
  ) {
    self.reference = reference
    self.profile = profile
    self.quietHours = quietHours
    self.apps = apps.sorted { $0.app < $1.app }
    self.kinds = kinds.sorted { $0.name < $1.name }
  }

  /// The policy without kinds, under which every event ends as `NO_MATCH`. It is in force until the log has a policy.
  public static let none = Policy(
    reference: PolicyReference(version: "none", hash: "0000000000000000"), profile: PolicyProfiles.standard, kinds: [])

  /// Returns the policy of a kind; nil if the policy does not name it.
  public func kind(named name: Identifier) -> KindPolicy? { kinds.first { $0.name == name } }
}
