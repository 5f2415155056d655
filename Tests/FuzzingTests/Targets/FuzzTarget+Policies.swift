import Policies

extension FuzzTarget {
  /// Readers of policies and profiles.
  static let policyTargets = [policy, profile]

  private static let policy = FuzzTarget(
    name: "policy", form: .text, cases: 1500,
    seeds: {
      try FuzzExamples.files("policy/valid", ending: ".yaml") + FuzzExamples.files("policy/invalid", ending: ".yaml")
    },
    body: { input in
      let document: PolicyDocument
      do throws(PolicyError) { document = try PolicyDocument(bytes: input, file: "policy.yaml") } catch {
        return try FuzzFinding.unless(!error.problems.isEmpty, "a policy was refused without a reason")
      }
      try FuzzFinding.unless(
        PolicyDifference(from: document.policy, to: document.policy).isEmpty, "a policy differs from itself")
      _ = PolicyExplanation(document).text
      // The log and the state hold the text of a policy.
      try FuzzFinding.unless(
        try PolicyDocument(record: document.text, file: "rouse.log").policy.reference == document.policy.reference,
        "the text of a policy gives another policy")
    })

  private static let profile = FuzzTarget(
    name: "profile", form: .text, cases: 3000,
    seeds: {
      try FuzzExamples.files("profile/valid", ending: ".yaml") + FuzzExamples.files("profile/invalid", ending: ".yaml")
    },
    body: { input in
      do throws(PolicyError) { _ = try ProfileDocument(bytes: input, file: "profile.yaml") } catch {
        try FuzzFinding.unless(!error.problems.isEmpty, "a profile was refused without a reason")
      }
    })
}
