import ArgumentParser
import Auditing
import Console
import Domain
import Foundation
import Installation
import KafkaClient
import LineFiles
import Logging
import Pipeline
import Policies
import Replay
import Serving

/// Plays one real day of flights through the whole pipeline on an embedded broker.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Play one real day of flights, end to end, on an embedded broker.",
    discussion: """
      Starts a broker inside this process, registers a synthetic fleet and publishes the departures of New York's \
      airports of 8 March 2013 (a snowstorm). Intake, planners and audit work as they do against a real Kafka. The demo \
      ends with a summary and three worked answers to "why". Log time is the events' own time, so the day passes in \
      about a minute, or as --speed says. Meanwhile the console shows what is decided; with --stay, it goes on \
      afterwards, until Ctrl-C.

      EXAMPLE
        rouse demo
        rouse demo --speed 300 --stay
        rouse demo --devices 100000 --keep /tmp/demo
      """)

  @Option(help: "Devices in the fleet.")
  var devices = 20_000
  @Option(help: "Seed of the fleet: the same seed gives the same devices.")
  var seed: UInt64 = 1
  @Option(help: ArgumentHelp("The policy to use instead of the demo's own.", valueName: "file"))
  var policy: String?
  @Option(
    help: ArgumentHelp(
      "The directory to keep the audit store in; without it, the store is removed.", valueName: "directory"))
  var keep: String?
  @Option(help: "Partitions of the log, shared by one planner thread per core.")
  var partitions = 4
  @Option(
    help: ArgumentHelp(
      "Seconds of the day that pass in a second, such as 300: the day takes six minutes. Without it, as many as this machine can.",
      valueName: "factor"))
  var speed: Double?
  @Flag(help: "Go on serving the console after the day, until Ctrl-C.")
  var stay = false

  /// The kinds of widgets with their subjects and weights. Most widgets show a flight, as travellers' do; some show an
  /// airport or its weather.
  private static let kinds = "FlightStatus=flight/:92,AirportDelays=airport/:4,WeatherNow=weather/:4"

  func validate() throws {
    guard (1...1_000_000).contains(devices) else { throw ValidationError("--devices: expected 1 to 1,000,000") }
    guard (1...64).contains(partitions) else { throw ValidationError("--partitions: expected 1 to 64") }
    guard (1...100_000).contains(speed ?? 1) else { throw ValidationError("--speed: expected 1 to 100000") }
  }

  func run() async throws {
    let began = Machine.seconds()
    let resources = try DemoResources(policy: policy)
    let directory = try DemoDirectory(keep: keep)
    defer { directory.removeUnlessKept() }
    let subjects = try FleetSubjects(eventsPath: resources.events)
    let fleet = try FleetGenerator(
      subjects: subjects,
      options: FleetOptions(devices: devices, seed: seed, template: try FleetTemplate(kindsOption: Self.kinds)))
    let broker = try EmbeddedBroker()
    let stage = try DemoStage(broker: broker, partitions: partitions, policy: resources.policy)
    let pages = MachinePages(counters: stage.counters, stop: stage.stop, threads: stage.threads)
    let listener = try await MachineServer.startAnywhere(pages, stage.counters)
    let (store, devicesView) = (directory.path + "/audit.sqlite", directory.path + "/devices.sqlite")
    let console = try await ConsoleRole.startAnywhere(
      store: store, devices: devicesView, stage.settings, stage.threads, stage.counters, stage.logger)
    Words.say(
      """
      broker   \(broker.bootstrapServers) (embedded; look at the topics from another terminal:)
                 kcat -b \(broker.bootstrapServers) -L
                 kcat -b \(broker.bootstrapServers) -C -t rouse.decisions -o -1 -c 1 | tail -3
                 kcat -b \(broker.bootstrapServers) -C -t rouse.commands -o -1 -c 1
      console  http://\(console.address.text)/
      metrics  http://\(listener.address.text)/metrics
      policy   \(resources.policy.policy.reference.version) (\(resources.policy.file))
      fleet    \(Digits.grouped(devices)) devices, seed \(seed)
      events   \(Digits.grouped(subjects.events)) of \(resources.day)
      """)
    let stories = DemoStories()
    try stage.start(auditStore: store, devicesView: devicesView, stories: stories)
    let finished = try stage.play(fleet: fleet, events: resources.events, speed: speed)
    if finished {
      try report(
        stage, store, stories, resources.policy.policy, seconds: Machine.seconds() - began, kept: directory.isKept)
      if stay {
        Words.say("\nthe console stays at http://\(console.address.text)/ until Ctrl-C")
        while !stage.stop.isAsked { try? await Task.sleep(for: .milliseconds(100)) }
      }
    }
    await console.stop()
    await listener.stop()
    guard stage.end() else { throw Failure("the stages did not end within 10 s") }
    guard finished else { throw ExitCode(130) }
  }

  /// Prints the summary and the worked answers.
  private func report(
    _ stage: DemoStage, _ store: String, _ stories: DemoStories, _ policy: Policy, seconds: Double, kept: Bool
  ) throws {
    let audit = try AuditStore.open(path: store, options: AuditOptions(access: .read))
    try Output.print("\n\(stage.summary(seconds: seconds))\n")
    try Output.print(AuditText.render(try audit.summary(), shares: AuditSummaryCommand.shares(policy)))
    for (number, story) in stories.chosen.enumerated() {
      try Output.print("\nwhy \(number + 1): \(story.title)\n")
      try Output.print("  $ rouse audit why \(story.device) --event \(story.event) --store \(kept ? store : "…")\n\n")
      try Output.print(
        AuditText.render(try audit.why(WhyQuestion(device: story.device, instance: story.instance, event: story.event)))
      )
    }
    let rouse = CommandLine.arguments.first ?? "rouse"
    if kept {
      try Output.print("\nask more: \(rouse) audit top --by device --limit 10 --store \(store)\n")
    } else {
      try Output.print("\nask more: \(rouse) demo --keep <directory> keeps the store\n")
    }
    if !stay { try Output.print("look around: \(rouse) demo --stay keeps the console until Ctrl-C\n") }
  }
}

/// The directory of the demo's audit store.
private struct DemoDirectory {
  let path: String
  let isKept: Bool

  /// - Parameter keep: the directory to keep; nil makes a temporary one.
  /// - Throws: ``Failure`` when it cannot be made, or holds a store already.
  init(keep: String?) throws {
    path = keep ?? NSTemporaryDirectory() + "rouse-demo-\(ProcessInfo.processInfo.processIdentifier)"
    isKept = keep != nil
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure("cannot make \(path): \((error as NSError).localizedDescription)")
    }
    if FileManager.default.fileExists(atPath: path + "/audit.sqlite") {
      throw Failure("\(path) holds an audit store already; name another directory with --keep")
    }
  }

  /// Removes the directory if it is a temporary one.
  func removeUnlessKept() {
    guard !isKept else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Words.say("rouse: \(path) could not be removed: \((error as NSError).localizedDescription)")
    }
  }
}

/// The events and the policy that come with the demo.
private struct DemoResources {
  let policy: PolicyDocument
  let events: String
  let day = "8 March 2013, New York: EWR, JFK, LGA"

  /// - Parameter path: a policy file to use instead of the demo's own.
  /// - Throws: ``Failure`` when the files are not in the program's folder, and what reading the policy throws.
  init(policy path: String?) throws {
    guard
      let events = Bundle.module.path(
        forResource: "flights-nyc-2013-03-08", ofType: "jsonl.gz", inDirectory: "Resources"),
      let own = Bundle.module.path(forResource: "flights.policy", ofType: "yaml", inDirectory: "Resources")
    else {
      throw Failure("the demo's files are not beside the program; keep rouse_rouse.resources in the same directory")
    }
    self.events = events
    policy = try PolicyFile.document(path ?? own)
  }
}
