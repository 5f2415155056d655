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
    let document: PolicyDocument
    do {
      document = try PolicyFile.document(file, profile: limits.profile)
    } catch let error as PolicyError {
      try report(error.problems, of: nil)
      let files = Set(error.problems.map(\.file)).sorted()
      let count = Digits.count(error.problems.count { $0.severity == .error }, "mistake")
      Words.say("rouse: \(count) in \(files.joined(separator: " and "))")
      throw ExitCode.failure
    }
    try report(document.warnings, of: document.policy)
  }

  private func report(_ problems: [PolicyProblem], of policy: Policy?) throws {
    if output.format == .json { return try Output.print(json(problems, of: policy)) }
    var text = problems.map { "\($0)\n" as PrintableText }.joined()
    if let policy {
      text +=
        "\(file): valid; version \(policy.reference.version), hash \(policy.reference.hash), profile "
        + "\(policy.profile.name), \(Digits.count(policy.kinds.count, "kind"))\n"
    }
    try Output.print(text)
  }

  private func json(_ problems: [PolicyProblem], of policy: Policy?) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("file", file)
    json.member("valid", policy != nil)
    if let policy {
      json.member("version", policy.reference.version)
      json.member("hash", policy.reference.hash)
      json.member("profile", policy.profile.name)
    }
    json.objects("problems", problems) { problem, json in
      json.member("severity", problem.severity.rawValue)
      if problem.file != file {
        json.member("file", problem.file)
      }
      json.member("line", problem.line)
      json.member("column", problem.column)
      json.member("path", problem.path)
      json.member("message", problem.message)
    }
    json.endObject()
    return json.bytes
  }
}
