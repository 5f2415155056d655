import ArgumentParser
import Domain
import Installation
import JSON
import Operating
import Pipeline

/// Prints the permissions that a principal needs on the cluster.
struct TopicsACLsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "acls", abstract: "Print the Kafka access control lists that each role needs.",
    discussion: """
      Asks no broker. The names of topics and groups come from the settings. Without --roles, the roles are those of the \
      setting `roles`. Each role gets what it needs and no more; the page about securing has the table with the reasons.

      ROLES
      \(AccessRole.list)

      The text is a script for a shell with Kafka's tools. It hands its arguments to `kafka-acls.sh`, for example the \
      properties by which an administrator logs in: `sh acls.sh --command-config admin.properties`. It only adds \
      permissions.

      EXAMPLE
        rouse topics acls --config rouse.yaml --principal User:rouse > acls.sh
        rouse topics acls --principal User:backend --roles backend --format json
      """)

  @Option(
    help: ArgumentHelp("The name by which the cluster knows the program: User:NAME.", valueName: "type:name"),
    transform: { try Self.principal($0) })
  var principal: String
  @Option(
    help: ArgumentHelp("The roles that the principal takes, separated by commas.", valueName: "roles"),
    transform: { try Self.roles($0) })
  var roles: [AccessRole]?
  @OptionGroup var settings: SettingsOptions
  @OptionGroup var output: FormatOption

  func run() throws {
    let settings = try settings.resolve()
    let roles = roles ?? AccessRole.allCases.filter { role in settings.roles.contains { $0.rawValue == role.rawValue } }
    let rules = AccessTable(try settings.pipeline().cluster).rules(of: roles)
    let script = AccessScript(
      principal: principal, roles: roles, rules: rules, bootstrap: settings.text(.bootstrapServers) ?? "")
    switch output.format {
    case .text: try Output.print(script.text)
    case .json: try Output.print(script.json)
    }
  }

  private static func principal(_ text: String) throws -> String {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
      throw ValidationError("expected the type and the name of a principal, such as User:rouse")
    }
    guard !text.unicodeScalars.contains(where: \.isUnprintable) else {
      throw ValidationError("a principal has no control characters")
    }
    return text
  }

  private static func roles(_ text: String) throws -> [AccessRole] {
    let words = text.split(separator: ",").map { $0.drop { $0 == " " } }.map(String.init)
    guard !words.isEmpty else { throw ValidationError("name at least one role") }
    return try words.map { word in
      if let role = AccessRole(rawValue: word) { return role }
      let known = AccessRole.allCases.map(\.rawValue)
      let near = NearestName.of(word, among: known).map { " did you mean \($0)?" } ?? ""
      throw ValidationError("unknown role '\(word)';\(near) known: \(known.joined(separator: ", "))")
    }
  }
}

extension AccessRole {
  /// A line for each role, for the help.
  fileprivate static var list: String {
    allCases.map { "  \($0.rawValue): \($0.user.filter { $0 != "`" })" }.joined(separator: "\n")
  }
}
