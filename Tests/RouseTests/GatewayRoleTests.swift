import Auditing
import Domain
import Foundation
import Gateway
import HTTPTesting
import Installation
import JSON
import KafkaClient
import Operating
import Pipeline
import Serving
import Testing

@testable import rouse

@Suite("The role gateway, and its keys") struct GatewayRoleTests {
  private func gateway(_ assignments: String...) throws -> GatewaySettings? {
    let settings = try Settings(assignments: assignments, environment: [:], file: nil)
    return try settings.gateway(settings.pipeline())
  }

  private func refusal(_ assignments: String...) -> String {
    do {
      let settings = try Settings(assignments: ["roles=gateway"] + assignments, environment: [:], file: nil)
      _ = try settings.gateway(settings.pipeline())
      return "none"
    } catch {
      return "\(error)"
    }
  }

  @Test("no process is a gateway unless it is told so, and one without keys listens on its own host")
  func defaults() throws {
    #expect(try gateway() == nil)
    let settings = try #require(try gateway("roles=intake,gateway"))
    #expect(settings.listen.text == "127.0.0.1:8080" && settings.topics.events == "events")
    for address in ["localhost:80", "127.0.0.2:80", "[::1]:80"] {
      #expect(try gateway("roles=gateway", "gateway.listen=\(address)") != nil)
    }
    #expect(refusal("gateway.listen=0.0.0.0:80").contains("make a file with rouse keys create"))
    #expect(refusal("gateway.listen=gateway.example.com:80").contains("needs keys"))
    #expect(refusal("gateway.listen=0.0.0.0:80", "gateway.keys=keys.json") == "none")
    #expect(refusal("gateway.listen=here").contains("expected host:port"))
  }

  @Test("two listeners of a process never have one port, whatever their hosts are called")
  func ports() throws {
    func refusal(_ assignments: String...) -> String {
      do {
        try Settings(assignments: ["roles=gateway,console"] + assignments, environment: [:], file: nil)
          .checkListeners()
        return "none"
      } catch {
        return "\(error)"
      }
    }
    #expect(refusal() == "none")
    let same = refusal("gateway.listen=127.0.0.1:9464")
    #expect(same.contains("gateway.listen: 127.0.0.1:9464 has the port of http.listen, 127.0.0.1:9464; give each"))
    #expect(refusal("console.listen=localhost:8080").contains("has the port of gateway.listen, 127.0.0.1:8080"))
    #expect(refusal("console.listen=0.0.0.0:9464").contains("has the port of http.listen"))
    #expect(refusal("http.listen=[::]:8090").contains("has the port of http.listen, [::]:8090"))
    #expect(refusal("http.listen=off", "console.listen=127.0.0.1:9464") == "none")
    #expect(refusal("console.listen=127.0.0.2:8080") == "none")
    #expect(refusal("console.listen=127.0.0.1:0", "gateway.listen=127.0.0.1:0", "http.listen=127.0.0.1:0") == "none")
    #expect(refusal("roles=gateway", "console.listen=127.0.0.1:8080") == "none")
  }

  @Test("the gateway writes to a topic that intake reads")
  func topic() throws {
    #expect(refusal("topics.events=a,b").contains("name the one of topics.events that the gateway writes to: a, b"))
    #expect(refusal("topics.events=a,b", "gateway.topic=c").contains("c is none of topics.events"))
    #expect(try gateway("roles=gateway", "topics.events=a,b", "gateway.topic=b")?.topics.events == "b")
    let settings = try #require(try gateway("roles=gateway", "topics.prefix=eu.", "topics.events=a"))
    #expect(settings.topics == GatewayTopics(events: "a", devices: "eu.devices", signals: "eu.signals"))
  }

  @Test("a gateway needs to read registrations only if it keeps a view of them")
  func view() throws {
    func rules(_ assignments: String...) throws -> String {
      let settings = try Settings(assignments: ["roles=gateway"] + assignments, environment: [:], file: nil)
      return try AccessTable(settings.pipeline().cluster).rules(of: .gateway)
        .map { "\($0.resource.name) \($0.operations.map(\.rawValue).sorted().joined(separator: "+"))" }
        .joined(separator: ", ").lowercased()
    }
    #expect(try rules() == "events write, rouse.devices write, rouse.signals write")
    let viewing = try rules("gateway.devicesView=devices.sqlite")
    #expect(
      viewing == "events write, rouse.devices read+write, rouse.signals read+write, rouse-gateway describe",
      "\(viewing)")
  }

  @Test("access records are beside the view of devices, or where they are told to be, within their limits")
  func records() throws {
    func place(_ assignments: String...) throws -> String? {
      try Settings(assignments: ["roles=gateway"] + assignments, environment: [:], file: nil).gatewayAccessPath
    }
    #expect(try place() == nil)
    #expect(try place("gateway.devicesView=d.sqlite") == "d.sqlite.access")
    #expect(try place("gateway.accessFile=a", "gateway.devicesView=d.sqlite") == "a")
    let limits = try Settings(
      assignments: ["gateway.accessFile=a", "gateway.accessDays=3", "gateway.accessRecords=5000"], environment: [:],
      file: nil
    ).gatewayAccessLimits
    #expect(limits.ageMax == .hours(72) && limits.recordsMax == 5000)
    for wrong in ["gateway.accessDays=0", "gateway.accessRecords=10"] {
      #expect(throws: (any Error).self) {
        try Settings(assignments: ["roles=gateway", wrong], environment: [:], file: nil).gatewayAccessLimits
      }
    }
  }

  @Test(
    "who changed a device is in a file that only its owner reads, and who was refused is there at the latest at the end"
  )
  func changes() throws {
    let (broker, place) = (try EmbeddedBroker(), try Workplace())
    for topic in ["events", "rouse.devices", "rouse.signals"] { try broker.createTopic(topic, partitions: 1) }
    let made = try place.rouse("keys", "create", "--role", "registrar", "--file", "keys.json", "--format", "json")
    guard case .string(let secret)? = try JSONValue(parsing: made.out)["key"] else {
      Issue.record("\(made.out)")
      return
    }
    let run = try RunningRouse(
      ["--bootstrap", broker.bootstrapServers]
        + [
          "roles=gateway", "gateway.listen=127.0.0.1:0", "gateway.keys=keys.json", "gateway.accessFile=changes.access",
        ].flatMap { ["--set", $0] }, in: place)
    let gateway = try soon("the gateway") {
      try run.words.firstMatch(of: #/http:\/\/[0-9.:]+(?=[^\n]*the gateway listens)/#).map { String($0.0) }
    }
    func delete(_ headers: String...) throws -> String {
      let headers = headers.flatMap { ["-H", $0] }
      let answer = try Tool.curl(
        ["-X", "DELETE", "\(gateway)/v1/devices/phone-1", "-w", "%{http_code}"] + headers)
      return String(answer.out.suffix(3))
    }
    try soon("the producer") { try delete("Authorization: Bearer \(secret)") == "202" ? true : nil }
    #expect(try delete() == "401")
    #expect(try run.end() == 0)
    let listed = try place.rouse("audit", "access", "--file", "changes.access", "--format", "json")
    guard case .array(let records)? = try JSONValue(parsing: listed.out)["records"] else {
      Issue.record("\(listed.out) \(listed.err)")
      return
    }
    #expect(records.contains { $0["refused"] == .string("noKey") && $0["status"] == .number(401) }, "\(listed.out)")
    #expect(
      records.contains { $0["device"] == .string("phone-1") && $0["status"] == .number(202) && $0["key"] != nil },
      "\(listed.out)")
    let attributes = try FileManager.default.attributesOfItem(
      atPath: place.folder.appendingPathComponent("changes.access").path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try place.rouse("audit", "access", "--file", "none.access").status == 1)
    #expect(try place.rouse("audit", "access").status == 2)
    #expect(try place.rouse("audit", "access", "--file", "changes.access", "--store", "s").status == 2)
  }

  @Test("a key is shown once, listed without its secret, and revoked")
  func keys() throws {
    let place = try Workplace()
    let made = try place.rouse(
      "keys", "create", "--role", "publisher", "--sources", "/a", "/b", "--types", "t", "--subjects", "x/",
      "--subjects", "y/", "--expires", "90d", "--file", "keys.json", "--format", "json")
    #expect(made.status == 0, "\(made.err)")
    let key = try JSONValue(parsing: made.out)
    guard case .string(let id)? = key["id"], case .string(let secret)? = key["key"] else {
      Issue.record("\(made.out)")
      return
    }
    #expect(key["sources"] == .array([.string("/a"), .string("/b")]) && key["isValid"] == .bool(true))
    #expect(secret.hasPrefix("rouse_") && made.err.contains(id))
    #expect(!String(decoding: try place.bytes("keys.json"), as: UTF8.self).contains(secret))
    let second = try place.rouse("keys", "create", "--role", "registrar", "--apps", "a", "--file", "keys.json")
    #expect(second.lines.count == 1 && second.lines[0].hasPrefix("rouse_"))
    let listed = try place.rouse("keys", "list", "--file", "keys.json")
    #expect(listed.lines.count == 2 && !listed.out.contains("rouse_"))
    #expect(
      listed.lines[0].hasPrefix("\(id)  publisher  until ")
        && listed.lines[0].hasSuffix("sources /a, /b; types t; subjects x/, y/"))
    #expect(listed.lines[1].hasSuffix("registrar  for ever  apps a"))
    #expect(try place.rouse("keys", "revoke", id, "--file", "keys.json").status == 0)
    let again = try place.rouse("keys", "revoke", id, "--file", "keys.json")
    #expect(again.status == 0 && again.err.contains("before"))
    let after = try place.rouse("keys", "list", "--file", "keys.json", "--format", "json")
    #expect(try JSONValue(parsing: after.out)[0]?["isValid"] == .bool(false))
    #expect(try place.rouse("keys", "revoke", "none", "--file", "keys.json").status == 1)
    #expect(try place.rouse("keys", "list", "--file", "other.json").status == 1)
  }

  @Test(
    "a key that makes no sense is wrong use",
    arguments: [
      ["--role", "registrar", "--sources", "/a"], ["--role", "registrar", "--subjects", "a"],
      ["--role", "publisher", "--apps", "a"], ["--role", "reader"],
      ["--role", "publisher", "--expires", "soon"], ["--role", "publisher", "--expires", "0d"],
      ["--role", "publisher", "--expires", "99999999999999999999d"],
    ])
  func wrongUse(arguments: [String]) throws {
    let place = try Workplace()
    #expect(try place.rouse(list: ["keys", "create", "--file", "keys.json"] + arguments).status == 2)
    #expect(!place.has("keys.json"))
  }
}
