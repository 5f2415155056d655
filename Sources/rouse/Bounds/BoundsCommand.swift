import ArgumentParser
import Domain
import JSON

/// Prints the bounds of everything that comes from outside, waits or is remembered.
struct BoundsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bounds", abstract: "Print the bounds of a module, with their reasons and what happens beyond them.",
    discussion: """
      Each bound stands in the source beside what it limits; this is the same text. The bounds of records (Domain) and of \
      policies (Policies) are part of the formats, and publishers can rely on them. The others keep memory and work \
      bounded, and may change with any release.

      MODULES
        \(StatedBound.modules.joined(separator: ", "))

      EXAMPLE
        rouse bounds Planning
        rouse bounds --format json
      """)

  @Argument(help: "The module; without it, all.", transform: { try Self.module($0) })
  var module: String?
  @OptionGroup var output: FormatOption

  func run() throws {
    let bounds = StatedBound.all.filter { module == nil || $0.module == module }
    switch output.format {
    case .text: try Output.print(PrintableText(lines: Self.text(bounds)))
    case .json: try Output.print(Self.json(bounds))
    }
  }

  private static func module(_ name: String) throws -> String {
    let known = StatedBound.modules
    if known.contains(name) { return name }
    let near = NearestName.of(name, among: known).map { " did you mean \($0)?" } ?? ""
    throw ValidationError("unknown module '\(name)';\(near) known: \(known.joined(separator: ", "))")
  }

  private static func text(_ bounds: [StatedBound]) -> String {
    var text = ""
    var module = ""
    for bound in bounds {
      if bound.module != module { text += (module.isEmpty ? "" : "\n") + bound.module + "\n" }
      module = bound.module
      text += "  \(bound.name) = \(bound.value)\n    \(bound.meaning)\n    beyond it: \(bound.beyond)\n"
    }
    return text
  }

  private static func json(_ bounds: [StatedBound]) -> [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for bound in bounds {
      json.beginObject()
      json.member("module", bound.module)
      json.member("name", bound.name)
      json.member("value", bound.value)
      json.member("meaning", bound.meaning)
      json.member("beyond", bound.beyond)
      json.endObject()
    }
    json.endArray()
    return json.bytes
  }
}

/// A bound, as the doc comment of its declaration states it.
private struct StatedBound {
  /// The folder of `Sources` with the declaration.
  let module: String
  /// The name of the constant.
  let name: String
  /// The value in words: `262,144 bytes`, `2 h`, `1 to 200`.
  let value: String
  /// The bounded thing, and the reason for the bound.
  let meaning: String
  /// The consequence of a larger value.
  let beyond: String

  /// All bounds, by module, file and place. `deploy/docs.sh` writes the table `bounds.tsv` from the doc comments, and a test
  /// compares the two.
  static let all: [StatedBound] = String(decoding: PackageResources.bounds_tsv, as: UTF8.self).split(separator: "\n")
    .compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 5 else { return nil }
      return StatedBound(module: fields[0], name: fields[1], value: fields[2], meaning: fields[3], beyond: fields[4])
    }

  /// The modules that state a bound, in their order.
  static let modules: [String] = all.reduce(into: []) { modules, bound in
    if modules.last != bound.module { modules.append(bound.module) }
  }
}
