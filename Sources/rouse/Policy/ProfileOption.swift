import ArgumentParser

/// The option `--profile`, the same for every command that reads one policy.
struct ProfileOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The budget profile to use instead of the policy's own.", valueName: "name|file"))
  var profile: String?
}
