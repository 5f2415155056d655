import Foundation
import Testing

@Suite("systemd", .enabled(if: Tool("systemd-analyze") != nil, "needs systemd-analyze of Debian's systemd"))
struct SystemdTests {
  private static let folder = Tool.repository.appending(path: "deploy/systemd")
  /// The names of the units, those of a template with an instance, and the files that they are made of.
  private static let units = [
    ("rouse.service", "rouse.service"), ("rouse@console.service", "rouse@.service"),
    ("rouse@gateway.service", "rouse@.service"),
  ]

  /// Writes a copy of a unit with a program that exists on this machine.
  private func copy(_ file: String, as name: String, in place: TemporaryFolder) throws -> String {
    let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
    let copy = text.replacing("ExecStart=/usr/bin/rouse ", with: "ExecStart=\(Tool.rouse) ")
    #expect(copy != text)
    try copy.write(toFile: "\(place.path)/\(name)", atomically: true, encoding: .utf8)
    return "\(place.path)/\(name)"
  }

  @Test("systemd finds no mistake in the units", arguments: units)
  func verified(name: String, file: String) throws {
    let place = try TemporaryFolder()
    let words = try Tool.words(["systemd-analyze", "verify", "--man=no", try copy(file, as: name, in: place)])
    #expect(!words.contains(name), "\(words)")
  }

  @Test("the exposure of the units is at most 2.0", arguments: units)
  func exposure(name: String, file: String) throws {
    let place = try TemporaryFolder()
    // The threshold is in tenths.
    let arguments = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20"]
    let words = try Tool.words(arguments + [try copy(file, as: name, in: place)])
    #expect(words.contains("Overall exposure level for \(name): "), "\(words)")
  }

  @Test("the units of a role have the sandbox of the unit of all roles")
  func sandbox() throws {
    let sandboxes = try ["rouse.service", "rouse@.service"].map { file in
      let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
      return try #require(text.components(separatedBy: "NoNewPrivileges=").last)
    }
    #expect(sandboxes[0] == sandboxes[1])
  }

  @Test("the program takes the files of the units of one role", arguments: [("console", 9466), ("gateway", 9465)])
  func role(name: String, port: Int) throws {
    let place = try TemporaryFolder()
    let text = try String(contentsOf: Self.folder.appending(path: "rouse.yaml"), encoding: .utf8)
    let config = "\(place.path)/rouse.yaml"
    try text.replacing("/etc/rouse", with: place.path).write(toFile: config, atomically: true, encoding: .utf8)
    let lines = try String(contentsOf: Self.folder.appending(path: "\(name).env"), encoding: .utf8).split(
      separator: "\n")
    var environment = ["ROUSE_ROLES": name]
    for line in lines where !line.hasPrefix("#") {
      let words = line.split(separator: "=", maxSplits: 1)
      environment[String(words[0])] = String(words[1])
    }
    let shown = try Tool.words([Tool.rouse, "run", "--config", config, "--print-config"], environment: environment)
    #expect(shown.contains("127.0.0.1:\(port)  (environment ROUSE_HTTP_LISTEN)"), "\(shown)")
    #expect(shown.contains("/var/lib/rouse/keys.json"), "\(shown)")
    #expect(shown.contains("/var/lib/rouse/audit.sqlite"), "\(shown)")
    // The console reads the copy of the registrations that the gateway keeps.
    #expect(shown.contains("/var/lib/rouse/devices.sqlite  (environment ROUSE_GATEWAY_DEVICES_VIEW)"), "\(shown)")
  }

  @Test("the program takes the files of the unit")
  func files() throws {
    let place = try TemporaryFolder()
    try "version: 1\nkinds: {}\n".write(toFile: "\(place.path)/policy.yaml", atomically: true, encoding: .utf8)
    let config = Self.folder.appending(path: "rouse.yaml").path
    let secret = Self.folder.appending(path: "kafka.properties").path
    let shown = try Tool.words(
      [Tool.rouse, "run", "--config", config, "--print-config"],
      environment: ["ROUSE_KAFKA_PROPERTIES_FILE": secret])
    #expect(shown.contains("/var/lib/rouse/audit.sqlite  (file \(config))"), "\(shown)")
    #expect(shown.contains("\(secret)  (environment ROUSE_KAFKA_PROPERTIES_FILE)"), "\(shown)")
    let users = try Tool.words(
      ["systemd-sysusers", "--dry-run", Self.folder.appending(path: "rouse.sysusers.conf").path])
    #expect(users.contains("rouse") || users.isEmpty, "\(users)")
  }
}
