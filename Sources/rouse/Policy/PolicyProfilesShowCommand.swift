import ArgumentParser
import Domain
import Policies

/// Prints the file of one profile.
struct PolicyProfilesShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print the file of a profile.",
    discussion: """
      EXAMPLE
        rouse policy profiles show apple-2026 > my-profile.yaml
      """)

  @Argument(help: "The name of the profile.")
  var name = PolicyProfiles.standard.name

  func run() throws { try Output.print(data: try PolicyFile.builtIn(name, "profiles show").text) }
}
