import ArgumentParser
import Domain
import JSON
import Policies

struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy", abstract: "Check, explain and compare policies.",
    discussion: """
      EXAMPLE
        rouse policy check policy.yaml
        rouse policy explain policy.yaml --kind FlightStatus
        rouse policy diff old.yaml new.yaml
      """,
    subcommands: [
      PolicyCheckCommand.self, PolicyApplyCommand.self, PolicyExplainCommand.self, PolicyDiffCommand.self, PolicyProfilesCommand.self,
    ])
}

struct PolicyCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say whether a policy can be used, and every mistake in it.",
    discussion: """
      Mistakes are printed as file:line:column. Exits 1 where there is one; warnings do not count.

      EXAMPLE
        rouse policy check policy.yaml
      """)

  @Argument(help: "The policy, a YAML file.")
  var file: String
  @OptionGroup var output: FormatOption

  func run() throws {
    let document: PolicyDocument
    do {
      document = try PolicyFile.document(file)
    } catch let error as PolicyError {
      try report(error.problems, of: nil)
      Words.say("rouse: \(Digits.count(error.problems.count { $0.severity == .error }, "mistake")) in \(file)")
      throw ExitCode.failure
    }
    try report(document.warnings, of: document.policy)
  }

  private func report(_ problems: [PolicyProblem], of policy: Policy?) throws {
    if output.format == .json { return try Output.print(json(problems, of: policy)) }
    var text = problems.map { "\($0)\n" }.joined()
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
    json.key("file")
    json.string(file)
    json.key("valid")
    json.bool(policy != nil)
    if let policy {
      json.key("version")
      json.string(policy.reference.version)
      json.key("hash")
      json.string(policy.reference.hash)
    }
    json.key("problems")
    json.beginArray()
    for problem in problems {
      json.beginObject()
      json.key("severity")
      json.string(problem.severity.rawValue)
      json.key("line")
      json.integer(problem.line)
      json.key("column")
      json.integer(problem.column)
      json.key("path")
      json.string(problem.path)
      json.key("message")
      json.string(problem.message)
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return json.bytes
  }
}

struct PolicyExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Print every value that holds, and where it comes from.",
    discussion: """
      A value is written in the document, comes from the budget profile, is built in, or follows from another one. \
      With --format json each value is one line.

      EXAMPLE
        rouse policy explain policy.yaml --kind FlightStatus
      """)

  @Argument(help: "The policy, a YAML file.")
  var file: String
  @Option(help: "Only this kind.")
  var kind: String?
  @OptionGroup var output: FormatOption

  func run() throws {
    let document = try PolicyFile.document(file)
    if let kind, document.policy.kind(named: kind) == nil {
      let known = document.policy.kinds.map(\.name).joined(separator: ", ")
      throw Failure("\(file): no kind \(kind); the kinds are \(known)")
    }
    let explanation = PolicyExplanation(document, kind: kind)
    try Output.print(output.format == .text ? explanation.text : explanation.jsonLines)
  }
}

struct PolicyDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Print which effective values a new policy changes.",
    discussion: """
      Comments, order and spelling count for nothing. With --format json each change is one line. Exits 0 with and \
      without a difference.

      EXAMPLE
        rouse policy diff old.yaml new.yaml
      """)

  @Argument(help: "The policy that holds, a YAML file.")
  var old: String
  @Argument(help: "The policy that is to come, a YAML file.")
  var new: String
  @OptionGroup var output: FormatOption

  func run() throws {
    let difference = PolicyDifference(
      from: try PolicyFile.document(old).policy, to: try PolicyFile.document(new).policy)
    if difference.isEmpty { Words.say("no effective value differs") }
    try Output.print(output.format == .text ? difference.text : difference.jsonLines)
  }
}

struct PolicyProfilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profiles", abstract: "Print the built-in budget profiles, each number with its source.",
    discussion: """
      EXAMPLE
        rouse policy profiles --format json
      """)

  @OptionGroup var output: FormatOption

  func run() throws {
    switch output.format {
    case .text: try Output.print(PolicyProfiles.all.map(text).joined(separator: "\n"))
    case .json: try Output.print(json())
    }
  }

  private func text(_ profile: BudgetProfile) -> String {
    let reloads = profile.instanceReloads
    let isDefault = profile.name == PolicyProfiles.standard.name ? " (the default)" : ""
    var text = "\(profile.name)\(isDefault)\n"
    let interval = reloads.minInterval.microseconds / 60_000_000
    text += line("reloads of an instance", "\(reloads.limit) a day, \(interval) min apart", reloads.provenance)
    text += line("widget pushes to a device", rate(profile.devicePushes), profile.devicePushes.provenance)
    text += line("background pushes to a device", rate(profile.backgroundPushes), profile.backgroundPushes.provenance)
    return text
  }

  private func line(_ what: String, _ limit: String, _ provenance: BudgetProfile.Provenance) -> String {
    "  \(what): \(limit)\n    confidence \(provenance.confidence): \(provenance.source)\n"
  }

  private func rate(_ rate: BudgetProfile.Rate) -> String {
    guard let limit = rate.limit else { return "unlimited" }
    return "\(limit) in \(rate.window.microseconds / 60_000_000) min, burst \(rate.burst)"
  }

  private func json() -> [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for profile in PolicyProfiles.all {
      json.beginObject()
      json.key("name")
      json.string(profile.name)
      json.key("instanceReloads")
      json.beginObject()
      json.key("perDay")
      json.integer(profile.instanceReloads.limit)
      json.key("minIntervalSeconds")
      json.integer(profile.instanceReloads.minInterval.microseconds / 1_000_000)
      write(profile.instanceReloads.provenance, to: &json)
      json.endObject()
      json.key("devicePushes")
      write(profile.devicePushes, to: &json)
      json.key("backgroundPushes")
      write(profile.backgroundPushes, to: &json)
      json.endObject()
    }
    json.endArray()
    return json.bytes
  }

  private func write(_ rate: BudgetProfile.Rate, to json: inout JSONWriter) {
    json.beginObject()
    json.key("limit")
    if let limit = rate.limit { json.integer(limit) } else { json.null() }
    json.key("windowSeconds")
    json.integer(rate.window.microseconds / 1_000_000)
    json.key("burst")
    json.integer(rate.burst)
    write(rate.provenance, to: &json)
    json.endObject()
  }

  private func write(_ provenance: BudgetProfile.Provenance, to json: inout JSONWriter) {
    json.key("confidence")
    json.string(provenance.confidence)
    json.key("source")
    json.string(provenance.source)
  }
}
