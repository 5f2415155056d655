import ArgumentParser
import Domain
import JSON
import LineFiles
import Replay

/// `rouse fleet`: makes up registrations about the subjects of real events.
struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet", abstract: "Make up a fleet whose widgets show the subjects of real events.",
    discussion: """
      The same events, seed and kinds give the same bytes, and a larger fleet begins with the devices of a smaller one. \
      Without --kinds or --template, the fleet has one kind for each prefix of the subjects. Kinds without weights are as \
      frequent as their subjects are many, but each has at least a tenth of the widgets.

      EXAMPLE
        rouse fleet --events events.jsonl.gz --devices 100000 --seed 1 \\
          --out devices.jsonl.gz
        rouse fleet --events events.jsonl.gz --devices 1000 --out - \\
          --kinds FlightStatus=flight/:98,AirportDelays=airport/:2
      """)

  @Option(help: ArgumentHelp("CloudEvents, one a line. Their subjects become interests.", valueName: "file"))
  var events: String
  @Option(help: ArgumentHelp("Number of devices, 1 to 100,000,000.", valueName: "count"))
  var devices: Int
  @Option(help: ArgumentHelp("Seed of all random choices.", valueName: "number"))
  var seed: UInt64 = 1
  @Option(help: ArgumentHelp("Where to write the registrations, one a line.", valueName: "file"))
  var out: String
  @Option(help: ArgumentHelp("Kinds and the prefixes of their subjects: Kind=prefix/[:weight],…", valueName: "spec"))
  var kinds: String?
  @Option(
    help: ArgumentHelp("A JSON file with kinds, their families and their numbers of interests.", valueName: "file"))
  var template: String?
  @OptionGroup var output: FormatOption

  func validate() throws {
    if kinds != nil && template != nil { throw ValidationError("give --kinds or --template, not both") }
    try Files.checkDistinct(outputs: [("--out", out)], inputs: [("--events", events), ("--template", template)])
  }

  func run() throws {
    var chosen: FleetTemplate?
    if let kinds {
      do throws(FleetError) { chosen = try FleetTemplate(kindsOption: kinds) } catch { throw usage(error) }
    }
    if let template { chosen = try FleetTemplate(path: template) }
    let line = ProgressLine()
    defer { line.end() }
    let subjects = try FleetSubjects(eventsPath: events) { consumed, total in
      line.show("reading events\(ProgressLine.share(consumed, of: total))")
    }
    let generator: FleetGenerator
    do throws(FleetError) {
      generator = try FleetGenerator(
        subjects: subjects, options: FleetOptions(devices: devices, seed: seed, template: chosen))
    } catch { throw usage(error) }
    var writer = try LineWriter(path: out, isPrivate: true)
    try generator.write(to: &writer) { line.show("\(Digits.grouped($0)) of \(Digits.grouped(devices)) devices") }
    try writer.close()
    line.end()
    try report(subjects, generator)
  }

  /// Turns a mistake on the command line into wrong use, exit code 2. Other errors stay failures, exit code 1.
  private func usage(_ error: FleetError) -> any Error {
    switch error {
    case .option: ValidationError(error.description)
    case .template("--kinds", _): ValidationError(error.description)
    case .template, .file, .subjects: error
    }
  }

  private func report(_ subjects: FleetSubjects, _ generator: FleetGenerator) throws {
    if subjects.skipped > 0 {
      Words.say(
        "\(Digits.count(subjects.skipped, "line")) of \(subjects.path) skipped; the first: "
          + "\(subjects.firstSkipped ?? "")")
    }
    switch output.format {
    case .text:
      var text: PrintableText = "\(Digits.count(devices, "device")), seed \(seed), app \(generator.template.app)"
      for kind in generator.kinds {
        text += "\n  \(kind.name): \(Digits.decimal(kind.share * 100, 1)) % of the widgets, drawn from "
        text += "\(Digits.count(kind.subjects, "subject"))"
      }
      Words.say(text)
    case .json:
      let json = json(subjects, generator)
      if out == "-" { Words.say(json: json) } else { try Output.print(json) }
    }
  }

  private func json(_ subjects: FleetSubjects, _ generator: FleetGenerator) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("devices", devices)
    json.member("seed", seed)
    json.member("app", generator.template.app)
    json.member("events", subjects.events)
    json.member("skipped", subjects.skipped)
    json.objects("kinds", generator.kinds) { kind, json in
      json.member("kind", kind.name)
      json.member("subjects", kind.subjects)
      json.member("share", rounded: kind.share)
    }
    json.endObject()
    return json.bytes
  }
}
