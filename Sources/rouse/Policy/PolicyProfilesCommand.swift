import ArgumentParser

/// The group of commands on budget profiles.
struct PolicyProfilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profiles", abstract: "Print the budget profiles that come with this version.",
    discussion: """
      A profile is a YAML file: a platform's limits, each number with its source. To use other numbers, print one, \
      change it, give it a name of its own, and name the file in the policy: `profile: ./my-profile.yaml`.

      EXAMPLE
        rouse policy profiles
        rouse policy profiles show apple-2026 > my-profile.yaml
        rouse policy check policy.yaml --profile my-profile.yaml
      """, subcommands: [PolicyProfilesListCommand.self, PolicyProfilesShowCommand.self],
    defaultSubcommand: PolicyProfilesListCommand.self)
}
