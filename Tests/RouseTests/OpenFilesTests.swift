import Foundation
import HTTPTesting
import Installation
import KafkaClient
import Serving
import Testing

@testable import rouse

@Suite("Open files") struct OpenFilesTests {
  private func files(
    _ limit: Int, _ assignments: [String], cluster: (brokers: Int, pageConnections: Int)? = nil
  ) throws -> OpenFiles {
    try OpenFiles(
      limit: limit, Settings(assignments: assignments, environment: [:], file: nil), cluster: cluster)
  }

  @Test("all servers together leave the reserve, at any limit that suffices, and get what they want where it is there")
  func shares() throws {
    let roles = ["roles=intake,planner,audit,gateway,console", "planner.workers=2"]
    var least: Int?
    for limit in stride(from: 64, to: 4096, by: 16) {
      guard let files = try? files(limit, roles) else { continue }
      if least == nil { least = limit }
      let connections = [files.gatewayConnections, files.consoleConnections, files.pageConnections]
      #expect(connections.allSatisfy { $0 >= 16 }, "\(limit)")
      #expect(
        connections.map { HTTPServerLimits.descriptors(connections: $0) }.reduce(0, +) + files.reserve <= limit,
        "\(limit)")
    }
    #expect(try #require(least) < 1024)
    // With more brokers than were assumed, the pages keep what they have.
    let first = try files(2048, roles)
    let second = try files(2048, roles, cluster: (12, first.pageConnections))
    #expect(second.pageConnections == first.pageConnections && second.gatewayConnections < first.gatewayConnections)
    #expect(throws: Failure.self) { try files(2048, roles, cluster: (100, first.pageConnections)) }
    let plenty = try files(.max, roles + ["gateway.connectionsMax=5000", "console.connectionsMax=7"])
    #expect(plenty.pageConnections == HTTPListener.connectionsMax)
    #expect(plenty.gatewayConnections == 5000 && plenty.consoleConnections == 7)
  }

  @Test("the reserve grows with brokers, threads and roles, and a process without servers may have a low limit")
  func reserve() throws {
    let one = try files(65_536, ["roles=planner", "planner.workers=1"])
    #expect(
      try files(65_536, ["roles=planner", "planner.workers=1"], cluster: (30, 512)).reserve > one.reserve + 27 * 3)
    #expect(try files(65_536, ["roles=planner", "planner.workers=9"]).reserve > 5 * one.reserve)
    #expect(one.pageConnections == HTTPListener.connectionsMax)
    #expect(one.gatewayConnections == 0 && one.consoleConnections == 0)
    let tight = ["roles=intake", "http.listen=off"]
    #expect(try files(try files(65_536, tight).reserve, tight).reserve > 0)
  }

  @Test("a limit that is too low refuses to start, with a sentence that says what to do")
  func tooLow() throws {
    let place = try Workplace()
    try place.put("ulimit -n 100; exec \"$@\"", "run.sh")
    let process = Process()
    let words = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["run.sh", Workplace.program.path, "run", "--set", "http.listen=127.0.0.1:0"]
    process.currentDirectoryURL = place.folder
    process.standardError = words
    try process.run()
    let text = String(decoding: words.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(text.contains("the limit on open files of this process is 100, and with these roles it needs"), "\(text)")
    #expect(text.contains("raise the hard limit, as with ulimit -Hn "), "\(text)")
  }

  @Test("a process raises its limit by itself, and connections beyond it harm nothing")
  func raised() throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all + ["events"] { try broker.createTopic(name, partitions: 2) }
    let place = try Workplace()
    // The soft limit would not suffice.
    try place.put("ulimit -Sn 64; ulimit -Hn 300; exec \"$@\"", "run.sh")
    let run = try RunningRouse(
      [
        "--bootstrap", broker.bootstrapServers, "--set", "roles=gateway", "--set", "gateway.listen=127.0.0.1:0",
        "--set", "membership=dynamic",
      ], in: place, through: ["/bin/sh", "run.sh"])
    try soon("ready") { try? run.page("/readyz") }
    let pages = try #require(HTTPAddress(String(run.address.dropFirst("http://".count))))
    #expect(try run.page("/metrics").contains("\nprocess_max_fds 300\n"))
    let gateway = try soon("the address of the gateway") {
      try run.words.firstMatch(of: #/address=http://([0-9.:]+)/#).flatMap { HTTPAddress(String($0.1)) }
    }
    var strangers: [TestClient] = []
    for number in 0..<340 { strangers.append(try TestClient(number % 2 == 0 ? pages : gateway)) }
    #expect(try run.page("/livez") == "ok\n")
    #expect(try TestClient(gateway).ask("GET", "/v1/none").status == 404)
    #expect(try run.words.contains("the limit on open files leaves fewer connections"))
    #expect(try run.end() == 0)
  }
}
