import Foundation
import HTTPTesting
import JSON
import Pipeline
import Serving
import Testing

@testable import rouse

@Suite("The role console without brokers") struct ConsoleRoleTests {
  /// Nobody listens there.
  private static let nowhere = "127.0.0.1:1"

  private func ask(_ address: String, _ path: String, accept: String = "*/*") throws -> TestClient.Answer {
    let address = try #require(HTTPAddress(address.replacing("http://", with: "")))
    return try TestClient(address).ask("GET", path, [("Accept", accept)])
  }

  @Test("it starts, says what is missing, is ready as soon as there is a store, and answers from it")
  func away() throws {
    let place = try Workplace()
    let settings = ["roles=console", "console.listen=127.0.0.1:0", "audit.store=audit.sqlite"]
    let run = try RunningRouse(["--bootstrap", Self.nowhere] + settings.flatMap { ["--set", $0] }, in: place)
    let console = try soon("the console") {
      try run.words.firstMatch(of: /address=(http:\/\/[0-9.:]+) .*console listens/).map { String($0.1) }
    }
    let early = try ask(run.address, "/readyz")
    #expect(early.status == 503 && early.text.contains("the console cannot read the audit store: "), "\(early.text)")
    #expect(try ask(run.address, "/livez").status == 200)
    #expect(try ask(console, "/v1/summary").status == 503)

    try place.put(tinyPolicy, "policy.yaml")
    try place.put(phone("d1"), "devices.jsonl")
    try place.put(delay("e1", 10, at: "15:00:00"), "events.jsonl")
    let plan = try place.rouse(
      "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--decisions",
      "decisions.jsonl", "--commands", "commands.jsonl", "--audit", "audit.sqlite")
    #expect(plan.status == 0, "\(plan.err)")

    try soon("ready") { try ask(run.address, "/readyz").status == 200 ? true : nil }
    let words = try soon("the brokers are missed") {
      let text = try ask(run.address, "/readyz").text
      return text.contains("missing: no broker answers") ? text : nil
    }
    #expect(words.hasPrefix("ok\n"))
    let json = try JSONValue(parsing: ask(run.address, "/readyz", accept: "application/json").text)
    #expect(json["ok"] == .bool(true) && json["missing"]?[0] != nil)
    let status = try JSONValue(parsing: ask(run.address, "/status").text)
    #expect(status["roles"] == .array([.string("console")]) && status["missing"]?[0] != nil)
    let metrics = try run.page("/metrics")
    #expect(metrics.contains("\nrouse_console_store_usable 1\n"))
    #expect(metrics.contains("\nrouse_console_brokers_reachable 0\n"))
    #expect(!metrics.contains("\nrouse_console_certificate_seconds_left"), "without TLS there is none")
    #expect(try ask(console, "/v1/summary").status == 200)
    #expect(try ask(console, "/v1/why?device=d1&event=e1").status == 200)
    #expect(try ask(console, "/v1/policies").status == 503)
    #expect(try ask(console, "/health", accept: "text/html").status == 200)
    #expect(try run.end() == 0)
    #expect(try run.words.contains("no broker answers, so the console shows no policies"))
  }

  @Test("it keeps a view of devices itself if told to, unless the process is a gateway that keeps one")
  func view() throws {
    func settings(_ assignments: String...) throws -> Settings {
      try Settings(
        assignments: ["console.devicesView=own"]
          + (assignments.contains { $0.hasPrefix("gateway.") } ? [] : ["gateway.devicesView=other"]) + assignments,
        environment: [:], file: nil
      )
    }
    let alone = try settings("roles=console")
    #expect(alone.ownConsoleView == "own" && alone.storage.devices == "own")
    _ = try alone.console(alone.pipeline())
    let gateway = try settings("roles=gateway")
    #expect(gateway.ownConsoleView == nil && gateway.storage.devices == "other")
    let both = try settings("roles=gateway,console")
    let refusal = #expect(throws: (any Error).self) { try both.console(both.pipeline()) }
    #expect(refusal.map { "\($0)".contains("leave one of the two out") } == true)
    let same = try settings("roles=console", "gateway.devicesView=own")
    #expect(throws: (any Error).self) { try same.console(same.pipeline()) }
    let place = try Workplace()
    let run = try RunningRouse(
      ["--bootstrap", Self.nowhere, "--set", "roles=console", "--set", "console.listen=127.0.0.1:0"]
        + ["--set", "audit.store=audit.sqlite", "--set", "console.devicesView=devices.sqlite"], in: place)
    let metrics = try soon("the view") {
      let text = try run.page("/metrics")
      return text.contains("\nrouse_devices_view_lag_records 0\n") ? text : nil
    }
    #expect(FileManager.default.fileExists(atPath: place.path("devices.sqlite")))
    #expect(!metrics.contains("\nrouse_devices_view_age_seconds "), "nothing is known yet")
    #expect(try run.end() == 0)
  }

  @Test("settings that no client of Kafka takes are refused at start, and any other role needs a broker")
  func refused() throws {
    let place = try Workplace()
    let wrong = try place.rouse(
      "run", "--set", "roles=console", "--set", "http.listen=off", "--set",
      "kafka.properties=security.protocol=ssl,ssl.ca.location=/no/such/file")
    #expect(wrong.status == 1 && wrong.err.contains("ssl.ca.location failed"), "\(wrong.err)")
    let both = try place.rouse(
      "run", "--bootstrap", Self.nowhere, "--set", "roles=audit,console", "--set", "http.listen=off")
    #expect(both.status == 1 && both.err.contains("no broker answered"), "\(both.err)")
    let ports = try place.rouse(
      "run", "--set", "roles=gateway", "--set", "gateway.listen=127.0.0.1:9464", "--print-config")
    #expect(ports.status == 2 && ports.err.contains("give each listener a port of its own"), "\(ports.err)")
  }
}
