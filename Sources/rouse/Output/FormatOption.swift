import ArgumentParser

/// The formats in which answers are written to standard output.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json
}

/// The option `--format`, the same for every command.
struct FormatOption: ParsableArguments {
  @Option(help: "How to print: text for people, json for programs.")
  var format = OutputFormat.text
}
