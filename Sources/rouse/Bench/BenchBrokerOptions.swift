import ArgumentParser
import Benchmarks
import Domain
import Foundation

/// The options by which every benchmark with a broker finds it.
struct BenchAddressOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The broker; without it, an embedded one is started in another process.", valueName: "host:port")
  )
  var bootstrap: String?
  @Option(
    help: ArgumentHelp("A property of librdkafka for every client; may be repeated.", valueName: "name=value"))
  var property: [String] = []

  func validate() throws { _ = try properties() }

  /// Reads the properties.
  /// - Throws: `ValidationError` when one is no property of librdkafka, with a message that never repeats a secret.
  private func properties() throws -> [KafkaProperty] {
    do throws(SettingRefusal) {
      return try KafkaProperty.list(fromItems: property)
    } catch {
      throw ValidationError("--property: \(error.words)")
    }
  }

  /// Connects to the broker, or starts an embedded one.
  func broker() throws -> BenchmarkBroker {
    try BenchmarkBroker(
      bootstrap: bootstrap, properties: try properties().map { ($0.name, $0.value) }, program: .rouse("bench", "broker")
    )
  }
}

/// The options of the benchmarks of planners that need a broker.
struct BenchBrokerOptions: ParsableArguments {
  @OptionGroup var address: BenchAddressOptions
  @Option(help: ArgumentHelp("Partitions of the topics. (default: 1; embedded: enough)", valueName: "count"))
  var partitions: Int?
  @Option(help: ArgumentHelp("Planner threads.", valueName: "count"))
  var workers = 1

  /// The address of a real broker; nil for the embedded one.
  var bootstrap: String? { address.bootstrap }
  /// The properties of librdkafka for every client.
  var property: [String] { address.property }

  func validate() throws {
    if let partitions { try BenchLimits.check("--partitions", partitions, 1...EmbeddedBrokerCapacity.partitionsMax) }
    try BenchLimits.check("--workers", workers, 1...64)
  }

  /// Connects to the broker, or starts an embedded one.
  func broker() throws -> BenchmarkBroker { try address.broker() }

  /// Returns the number of partitions that was asked for. Without the option it is 1 on a real broker, and on an embedded
  /// one as many as the largest topic needs.
  /// - Parameters:
  ///   - records: the records that the largest topic will hold.
  ///   - bytes: their size altogether.
  func partitions(records: Int, bytes: Int) throws -> Int {
    guard bootstrap == nil else { return partitions ?? 1 }
    return try EmbeddedBrokerCapacity.partitions(wanted: partitions, records: records, bytes: bytes)
  }
}

extension ChildProgram {
  /// Returns the command line that runs this program with these arguments.
  static func rouse(_ arguments: String...) -> ChildProgram { rouse(list: arguments) }

  static func rouse(list arguments: [String]) -> ChildProgram {
    ChildProgram(
      executable: URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath(), arguments: arguments)
  }
}

/// Runs the embedded broker of a benchmark as a child process; hidden, because only benchmarks start it.
struct BenchBrokerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "broker", abstract: "Run an embedded broker until standard input ends; the benchmarks start it.",
    discussion: """
      Prints its address first. Then it makes a topic for every line `name partitions` and answers `ok`.

      EXAMPLE
        rouse bench broker
      """, shouldDisplay: false)

  func run() throws {
    try BrokerService.run(read: { readLine() }, write: { try Output.print(data: $0 + "\n") })
  }
}
