import Domain

/// The descriptions of the keys of policy and profile documents, mapping by mapping.
enum PolicyKeys {}

/// A policy while a document is read into it, or while it is shown.
struct PolicyDraft {
  var version: String?
  /// The profile that the document names, before `limits` changes it.
  var named: BudgetProfile
  /// The profile with the changes of `limits`.
  var effective: BudgetProfile
  var quietHours: QuietHours?
  var apps: [AppBudget] = []
  var kinds: [KindPolicy] = []

  /// Creates the draft of a document before any of its keys is read.
  /// - Parameter profile: the profile that holds if the document names none.
  init(profile: BudgetProfile) { (named, effective) = (profile, profile) }

  /// Creates a draft from which a policy is shown.
  init(_ policy: Policy) {
    self.init(profile: policy.profile)
    version = policy.reference.version.text
    quietHours = policy.quietHours
    apps = policy.apps
    kinds = policy.kinds
  }
}

extension PolicyKeys {
  /// The description of the keys at the top level of a policy document.
  static let policy = PolicyMapping<PolicyDraft>([
    PolicyKey(
      "version", .other, required: true,
      "The author chooses it: 1 to 64 printable ASCII characters without spaces. It is on every decision, with a hash of the document and its profile.",
      read: { decoder, value, draft in draft.version = decoder.version(value) },
      show: { draft, path, values in values.add(path, .string(draft.version ?? "")) }),
    PolicyKey(
      "profile", .other, default: "apple-2026",
      "The platform's limits that hold where this document says nothing: a profile that comes with Rouse (`rouse policy profiles`), or the path of a file (`profile.schema.json`), relative to this one.",
      read: { decoder, value, draft in
        draft.named = decoder.profile(value)
        draft.effective = draft.named
      },
      show: { draft, path, values in values.add(path, .string(draft.named.name)) }),
    .mapping("limits", \.effective, limits, "Numbers of the profile that this policy changes."),
    PolicyKey(
      "quietHours", .mapping,
      "No pushes between two local times of the device's day, but for updates of Live Activities, which wake nobody then: priority 5, no alert. They do not hold for broadcast channels, whose devices are in all time zones. If `from` is later than `to`, the quiet hours span midnight.",
      read: { decoder, value, draft in draft.quietHours = decoder.quietHours(value) },
      show: { draft, path, values in
        if let quiet = draft.quietHours { values.add(quiet, quietHours, at: path) }
      }),
    PolicyKey(
      "apps", .mapping, "Limits of whole apps, by bundle id.",
      read: { decoder, value, draft in draft.apps = decoder.apps(value) },
      show: { draft, path, values in
        for budget in draft.apps { values.add(budget, app, at: StrictReader.path(path, budget.app)) }
      }),
    PolicyKey(
      "kinds", .mapping, required: true,
      "The policy of each kind, under the name that devices register: the kind of a widget or control, or the attributes type of a Live Activity.",
      read: { decoder, value, draft in draft.kinds = decoder.kinds(value, profile: draft.effective) },
      show: { draft, path, values in
        for policy in draft.kinds {
          values.add(KindDraft(policy), kind, at: StrictReader.path(path, policy.name))
        }
      }),
  ])

  /// The description of the keys of `quietHours`.
  static let quietHours = PolicyMapping<QuietHours>([
    .clock("from", \.fromMinute, required: true, "The local time at which the quiet hours begin."),
    .clock("to", \.toMinute, required: true, "The local time at which they end."),
    .relevanceBound(
      "exceptRelevance", \.exceptRelevance,
      "Relevance at or above which quiet hours do not hold. Default: no exception."),
  ])

  /// The description of the keys of an app, the value of an entry of `apps`.
  static let app = PolicyMapping<AppBudget>([
    .integer(
      "perDay", \.perDay, PolicyBounds.appPerDay, required: true,
      "Commands in a UTC day, over all devices of the app. The end of a Live Activity is sent beyond it."),
    PolicyKey(
      "refundsPerDay", .integer(PolicyBounds.appRefundsPerDay),
      "Commands in a UTC day whose charges come back because their delivery failed. Default: a quarter of perDay.",
      read: { decoder, value, budget in
        budget.refundsPerDay = decoder.reader.integer(value, in: PolicyBounds.appRefundsPerDay)
      },
      show: { budget, path, values in values.add(path, .number(Double(budget.refundsInForce))) }),
  ])
}
