import ArgumentParser
import Domain
import JSON
import Policies

/// Checks a policy.
struct PolicyCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a policy and print every mistake in it.",
    discussion: """
      Mistakes are printed as file:line:column. Exits 1 when there is a mistake; warnings do not count. The hash covers \
      the policy and its profile together, as `rouse policy apply` puts them into the log.

      EXAMPLE
        rouse policy check policy.yaml
      """)

  @Argument(help: "The policy, a YAML file.")
  var file: String
  @OptionGroup var limits: ProfileOption
  @OptionGroup var output: FormatOption

  func run() throws {
    do {
      try report(PolicyCheck(try PolicyFile.document(file, profile: limits.profile), file: file))
    } catch let error as PolicyError {
      try report(PolicyCheck(error, file: file))
      let files = Set(error.problems.map(\.file)).sorted()
      let count = Digits.count(error.problems.count { $0.severity == .error }, "mistake")
      Words.say("rouse: \(count) in \(files.joined(separator: " and "))")
      throw ExitCode.failure
    }
  }

  private func report(_ check: PolicyCheck) throws {
    switch output.format {
    case .json:
      var json = JSONWriter()
      check.encode(to: &json)
      try Output.print(json.bytes)
    case .text:
      var text = check.problems.map { "\($0)\n" as PrintableText }.joined()
      if let policy = check.policy {
        text +=
          "\(file): valid; version \(policy.reference.version), hash \(policy.reference.hash), profile "
          + "\(policy.profile.name), \(Digits.count(policy.kinds.count, "kind"))\n"
      }
      try Output.print(text)
    }
  }
}
