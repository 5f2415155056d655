import ArgumentParser
import Foundation
import JSON
import LineFiles

/// How answers are written to standard output.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json
}

/// `--format`, the same for every command.
struct FormatOption: ParsableArguments {
  @Option(help: "How to print: text for people, json for programs.")
  var format = OutputFormat.text
}

/// Data for standard output.
enum Output {
  static func print(_ text: String) throws(LineFileError) {
    var writer = try LineWriter(path: "-")
    try writer.append(text)
    try writer.close()
  }

  /// A JSON value and a line feed.
  static func print(_ json: [UInt8]) throws(LineFileError) {
    var writer = try LineWriter(path: "-")
    try writer.append(json)
    try writer.endLine()
    try writer.close()
  }
}

/// Words for standard error. Where nobody reads them there is nobody to tell.
enum Words {
  static func say(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8)) }

  /// Without a line feed.
  static func show(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}

/// Why a command failed, for the person who gave it.
struct Failure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// Numbers as people read them. The same in every locale.
enum Digits {
  /// `12,345,678`
  static func grouped(_ value: Int) -> String {
    var text = ""
    for (index, digit) in String(value.magnitude).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (value < 0 ? "-" : "") + String(text.reversed())
  }

  /// With this many decimals, at most 6.
  static func decimal(_ value: Double, _ places: Int) -> String {
    String(format: "%.\(places)f", locale: Locale(identifier: "en_US_POSIX"), value)
  }

  /// `1 device`, `2 devices`
  static func count(_ value: Int, _ noun: String) -> String { count(value, noun, "\(noun)s") }

  static func count(_ value: Int, _ one: String, _ many: String) -> String {
    "\(grouped(value)) \(value == 1 ? one : many)"
  }
}
