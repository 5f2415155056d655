import Foundation
import Installation
import JSON
import KafkaClient
import Operating
import Testing

@testable import rouse

@Suite("rouse topics acls")
struct AccessCommandTests {
  private func acls(_ arguments: String..., place: Workplace? = nil) throws -> Outcome {
    try (place ?? Workplace()).rouse(list: ["topics", "acls"] + arguments)
  }

  @Test("the text is a script that hands its arguments to kafka-acls.sh, with all names quoted")
  func script() throws {
    let place = try Workplace()
    let outcome = try acls("--principal", "User:CN=rouse's, O=x", "--roles", "intake,planner,audit", place: place)
    #expect(outcome.status == 0, "\(outcome.err)")
    // A stand-in for Kafka's tool, which notes its arguments.
    try place.put("printf '<%s>' \"$@\" >> \"$NOTES\"\necho >> \"$NOTES\"\n", "kafka-acls.sh")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: place.folder.appendingPathComponent("kafka-acls.sh").path)
    try place.put("#!/bin/sh\n" + String(decoding: try place.bytes("kafka-acls.sh"), as: UTF8.self), "kafka-acls.sh")
    try place.put(outcome.out, "script")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["script", "--command-config", "a b"]
    process.currentDirectoryURL = place.folder
    process.environment = ["PATH": "\(place.folder.path):/usr/bin:/bin", "NOTES": "notes"]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let calls = try place.lines("notes")
    let head =
      "<--bootstrap-server><localhost:9092><--command-config><a b><--add><--allow-principal><User:CN=rouse's, O=x>"
    #expect(calls.allSatisfy { $0.hasPrefix(head) }, "\(calls)")
    let rest = calls.map { $0.dropFirst(head.count) }
    #expect(
      rest.contains(
        "<--operation><Read><--operation><Write><--topic><rouse.log><--topic><rouse.state>"
          + "<--topic><rouse.decisions><--topic><rouse.commands>"))
    #expect(
      rest.contains(
        "<--operation><Write><--resource-pattern-type><prefixed><--transactional-id><rouse-planner->"), "\(rest)")
  }

  @Test("the JSON has an object for each operation on a resource, as the table has them")
  func json() throws {
    for role in AccessRole.allCases {
      let outcome = try acls(
        "--principal", "User:u", "--roles", role.rawValue, "--format", "json", "--set", "topics.events=a,b", "--set",
        "topics.prefix=eu.", "--set", "group=eu")
      guard case .array(let found) = try JSONValue(parsing: outcome.out) else {
        Issue.record("\(outcome.out)")
        continue
      }
      let settings = ClusterSettings(
        kafka: [:], topics: TopicNames(prefix: "eu."), eventTopics: ["a", "b"], group: "eu")
      let rules = AccessTable(settings).rules(of: role)
      #expect(found.count == rules.reduce(0) { $0 + $1.operations.count })
      for entry in found {
        #expect(entry["principal"] == .string("User:u") && entry["permission"] == .string("Allow"))
        #expect(
          rules.contains { rule in
            entry["resource"] == .string(rule.resource.kind.rawValue)
              && entry["name"] == .string(rule.resource.name)
              && entry["pattern"] == .string(rule.resource.isPrefix ? "Prefixed" : "Literal")
              && rule.operations.contains { entry["operation"] == .string($0.rawValue) }
          }, "\(entry)")
      }
    }
  }

  @Test("without roles, those of the settings count; a wrong role or principal is refused with advice")
  func roles() throws {
    let audit = try acls("--principal", "User:u", "--set", "roles=audit").out
    #expect(audit.hasPrefix("# User:u: audit\n"))
    #expect(try audit == acls("--principal", "User:u", "--roles", "audit").out)
    let near = try acls("--principal", "User:u", "--roles", "planer")
    #expect(near.status == 2)
    #expect(near.err.contains("unknown role 'planer'; did you mean planner? known: intake, "), "\(near.err)")
    for wrong in ["rouse", "User:", ":rouse", "User:a\nb"] {
      let outcome = try acls("--principal", wrong)
      #expect(outcome.status == 2)
      #expect(outcome.err.contains("principal"), "\(outcome.err)")
    }
  }
}
