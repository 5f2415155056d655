import ArgumentParser

@main
struct Rouse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rouse", abstract: "Decides which widgets are worth a reload, and keeps the books.")
}
