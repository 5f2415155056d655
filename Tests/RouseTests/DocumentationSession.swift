import Foundation
import KafkaClient

/// Runs the commands of pages that follow each other, in a new folder, as a reader would.
struct DocumentationSession {
  private let place: Workplace
  private let broker: EmbeddedBroker?
  private let pages: [DocumentationPage]

  /// The result of the commands of a block.
  struct BlockOutcome {
    var status: Int32
    var output: String
  }

  /// - Throws: when the folder or the broker cannot be made.
  init(_ pages: [DocumentationPage]) throws {
    self.pages = pages
    place = try Workplace()
    guard let topics = pages.first?.brokerTopics else {
      broker = nil
      return
    }
    let broker = try EmbeddedBroker()
    for topic in topics { try broker.createTopic(topic.name, partitions: topic.partitions) }
    self.broker = broker
  }

  /// The paths of all pages, those that follow each other together.
  /// - Throws: when a page cannot be read.
  static func sequences() throws -> [[String]] {
    var sequences: [[String]] = []
    var waiting = try DocumentationPage.paths.map { try DocumentationPage(path: $0) }
    while !waiting.isEmpty {
      let count = waiting.count
      waiting.removeAll { page in
        guard let predecessor = page.predecessor else {
          sequences.append([page.path])
          return true
        }
        guard let place = sequences.firstIndex(where: { $0.last == predecessor }) else { return false }
        sequences[place].append(page.path)
        return true
      }
      guard waiting.count < count else {
        throw PageError(
          description: "\(waiting[0].path) comes after a page that is not there, or that another one follows")
      }
    }
    return sequences
  }

  /// Runs the blocks of the pages.
  /// - Returns: for each page one outcome for each part that is a block of commands; nil for those that are not run.
  func run() throws -> [[BlockOutcome?]] {
    try FileManager.default.createDirectory(
      at: place.folder.appending(path: "work"), withIntermediateDirectories: true)
    // Groups, because `timeout` itself inherits the blocked signals of the thread that started it.
    var script = "cd work; trap 'for group in $behind; do kill -TERM -- -$group; done; wait' EXIT\n"
    var modes: [[DocumentationPage.RunMode]] = []
    var number = 0
    for page in pages {
      modes.append([])
      for case .run(let mode, _, let code) in page.parts {
        try place.put(toProgram(page.lines[code].joined(separator: "\n")), "\(number).sh")
        script += Self.script(mode, number: number)
        modes[modes.count - 1].append(mode)
        number += 1
      }
    }
    guard modes.joined().contains(where: { $0 != .notRun }) else { return modes.map { $0.map { _ in nil } } }
    try place.put(script, "script")
    try runScript()
    number = -1
    return try modes.map { page in
      try page.map { mode in
        number += 1
        return mode == .notRun ? nil : try outcome(number)
      }
    }
  }

  private func outcome(_ number: Int) throws -> BlockOutcome {
    guard place.has("\(number).status") else {
      return BlockOutcome(status: -1, output: "not reached")
    }
    let status = try place.lines("\(number).status").first.flatMap { Int32($0) } ?? -1
    return BlockOutcome(
      status: status, output: toPage(String(decoding: try place.bytes("\(number).out"), as: UTF8.self)))
  }

  /// The commands that run one block, and end the script when it fails. `timeout` ends its process group, so that no command
  /// outlives the test.
  private static func script(_ mode: DocumentationPage.RunMode, number: Int) -> String {
    let run = "bash -e ../\(number).sh >../\(number).out 2>&1 </dev/null"
    let note = "echo $status >../\(number).status"
    let goOn = "[ $status = 0 ] || exit\n"
    func until(_ text: String, in file: String, _ command: String = ":") -> String {
      """
      end=$((SECONDS + 60)); status=124
      while [ $SECONDS -lt $end ]; do \(command); grep -qF -- \(quoted(text)) \(file) && status=0 && break; sleep 0.2; done
      \(note); \(goOn)
      """
    }
    switch mode {
    case .notRun: return ""
    case .once(let expected):
      return "timeout 100 \(run); status=$?; \(note); [ $status = \(expected) ] || exit\n"
    case .until(let text): return until(text, in: "../\(number).out", "timeout 30 \(run)")
    case .behind(let text):
      return "timeout 300 \(run) & behind=\"$behind $!\"; log=../\(number).out\n" + until(text, in: "$log")
    // The output of the commands shows why a wait failed.
    case .wait(let text): return until(text, in: "$log", "cp $log ../\(number).out")
    }
  }

  private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

  private func runScript() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["script"]
    process.currentDirectoryURL = place.folder
    process.environment = [
      "PATH": Workplace.program.deletingLastPathComponent().path + ":/usr/bin:/bin", "COLUMNS": "100", "TZ": "UTC",
      "LC_ALL": "C.UTF-8", "HOME": place.folder.path,
      // Pages run at the same time, and each process needs a port of its own.
      "ROUSE_HTTP_LISTEN": "127.0.0.1:0", "CLONE": DocumentationPage.root.path,
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
  }

  // MARK: What a page calls otherwise

  private static let pageBroker = "localhost:9092"

  private static let pageGateway = "127.0.0.1:8080"
  /// The address of a gateway in the session: not the one of a reader, and another one for each process that runs tests. The
  /// system gives ports above these to clients.
  private static let gateway = "127.0.0.1:\(20_000 + getpid() % 10_000)"

  private static let pageConsole = "127.0.0.1:8090"
  /// The address of a console in the session: as for the gateway. The demo of another test may have the one of a reader.
  private static let console = "127.0.0.1:\(10_000 + getpid() % 10_000)"

  private func toProgram(_ text: String) -> String {
    let text = text.replacing(Self.pageGateway, with: Self.gateway).replacing(Self.pageConsole, with: Self.console)
    guard let broker else { return text }
    return text.replacing(Self.pageBroker, with: broker.bootstrapServers)
  }

  private func toPage(_ text: String) -> String {
    var text = text.replacing(Self.gateway, with: Self.pageGateway).replacing(Self.console, with: Self.pageConsole)
      // The demo takes any free port if another program has the one that it wants.
      .replacing(#/console  http:\/\/127\.0\.0\.1:\d+\//#, with: "console  http://127.0.0.1:8090/")
    if let broker { text = text.replacing(broker.bootstrapServers, with: Self.pageBroker) }
    return text.replacing(place.folder.path + "/work", with: "/tmp/try")
      .replacing(DocumentationPage.root.path, with: "$CLONE")
      .replacing(#/\$CLONE/\.build/\S*?(debug|release)/#, with: "$CLONE/.build/release")
      // The pages for machines listen on any free port, so that sessions do not need the one of a reader.
      .replacing(#/127\.0\.0\.1:0 +\(environment ROUSE_HTTP_LISTEN\)/#, with: "127.0.0.1:9464  (default)")
      .replacing(#/(metrics=|metrics +)http://127\.0\.0\.1:\d+/#) { "\($0.1)http://127.0.0.1:9464" }
  }
}
