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
