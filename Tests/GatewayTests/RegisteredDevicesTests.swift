import Domain
import Foundation
import HTTPTesting
import JSON
import Keys
import Serving
import Testing

@testable import Gateway

@Suite("A gateway that knows what is registered") struct RegisteredDevicesTests {
  private static func registrar(_ apps: [String]) -> (file: KeyFile, header: (String, String)) {
    let key = AccessKey.make(.registrar, apps: apps, created: Timestamp(microseconds: 1_700_000_000_000_000))
    var file = KeyFile()
    file.keys = [key.key]
    return (file, ("Authorization", "Bearer \(key.secret)"))
  }

  @Test("a registration is read as it was written, with its tag and the age of what is known")
  func get() async throws {
    let text = registrationJSON("d/1 é")
    try await RunningGateway.run(devices: KnownDevices(["d/1 é": text]), runsProducer: false) { gateway, _ in
      let client = try gateway.client()
      let found = try client.ask("GET", "/v1/devices/d%2F1%20%C3%A9")
      #expect(found.status == 200 && found.text == text && found.headers["age"] == "3")
      #expect(found.headers["etag"] == EntityTag(Array(text.utf8)).text)
      #expect(found.headers["cache-control"] == "no-store")
      let missing = try client.ask("GET", "/v1/devices/other")
      #expect(missing.status == 404 && missing.headers["age"] == "3" && missing.text.contains("unknown-device"))
      #expect(missing.faults(ofHead: try client.ask("HEAD", "/v1/devices/other")) == [])
      #expect(found.faults(ofHead: try client.ask("HEAD", "/v1/devices/d%2F1%20%C3%A9")) == [])
    }
  }

  @Test("If-Match lets a change through only if the registration is the one that it names")
  func ifMatch() async throws {
    let devices = KnownDevices(["d-1": registrationJSON("d-1")])
    try await RunningGateway.run(devices: devices) { gateway, _ in
      let client = try gateway.client()
      let tag = try #require(try client.ask("GET", "/v1/devices/d-1").headers["etag"])
      func change(_ method: String, _ ifMatch: String, _ device: String = "d-1") throws -> Int {
        let body = method == "PUT" ? registrationJSON(device) : ""
        return try client.ask(method, "/v1/devices/\(device)", [json, ("If-Match", ifMatch)], body).status
      }
      for method in ["PUT", "DELETE"] {
        #expect(try change(method, tag) == 202)
        #expect(try change(method, "\"x\" ,  \(tag)\t") == 202)
        #expect(try change(method, "*") == 202)
        for other in ["\"x\"", "W/\(tag)", "", String(tag.dropLast()), "*", tag] {
          #expect(try change(method, other, other == "*" || other == tag ? "d-2" : "d-1") == 412, "\(other)")
        }
      }
      devices.set("d-1", registrationJSON("d-1", app: "other"))
      let answer = try client.ask("DELETE", "/v1/devices/d-1", [("If-Match", tag)])
      #expect(answer.status == 412 && answer.text.contains("precondition-failed"))
      #expect(try gateway.records("rouse.devices", count: 6).count == 6, "what was refused was not written")
    }
  }

  @Test("If-None-Match lets a registration through only if there is none, or another one")
  func ifNoneMatch() async throws {
    let devices = KnownDevices(["d-1": registrationJSON("d-1")])
    try await RunningGateway.run(devices: devices) { gateway, _ in
      let client = try gateway.client()
      let tag = try #require(try client.ask("GET", "/v1/devices/d-1").headers["etag"])
      func put(_ device: String, _ headers: [(String, String)]) throws -> TestClient.Answer {
        try client.ask("PUT", "/v1/devices/\(device)", [json] + headers, registrationJSON(device))
      }
      for names in [["*"], [tag], ["W/\(tag)"], ["\"x\"", tag], ["\"x\", \(tag)"]] {
        let refused = try put("d-1", names.map { ("If-None-Match", $0) })
        #expect(refused.status == 412 && refused.text.contains("registered already"), "\(names)")
        #expect(try put("d-2", names.map { ("If-None-Match", $0) }).status == 202, "\(names)")
      }
      #expect(try put("d-1", [("If-None-Match", "\"x\"")]).status == 202)
      let both = try put("d-1", [("If-Match", tag), ("If-None-Match", "*")])
      #expect(both.status == 412 && both.text.contains("registered already"))
      #expect(try client.ask("DELETE", "/v1/devices/d-1", [("If-None-Match", "*")]).status == 412)
      #expect(try gateway.records("rouse.devices", count: 6).count == 6, "what was refused was not written")
    }
  }

  @Test("a registration that the client has already is not sent again")
  func unchanged() async throws {
    let devices = KnownDevices(["d-1": registrationJSON("d-1")])
    try await RunningGateway.run(devices: devices, runsProducer: false) { gateway, _ in
      let client = try gateway.client()
      let tag = try #require(try client.ask("GET", "/v1/devices/d-1").headers["etag"])
      for (names, status) in [
        (tag, 304), ("W/\(tag)", 304), ("*", 304), ("\"x\" , \(tag)", 304), ("\"x\"", 200),
        (String(tag.dropLast()), 200),
      ] {
        let answer = try client.ask("GET", "/v1/devices/d-1", [("If-None-Match", names)])
        #expect(answer.status == status && answer.headers["etag"] == tag && answer.headers["age"] == "3", "\(names)")
        #expect((answer.headers["content-type"] == nil) == (status == 304), "\(names)")
        #expect(answer.faults(ofHead: try client.ask("HEAD", "/v1/devices/d-1", [("If-None-Match", names)])) == [])
      }
      #expect(try client.ask("GET", "/v1/devices/d-2", [("If-None-Match", "*")]).status == 404)
    }
  }

  @Test("a key of some apps reads, replaces, forgets and reports devices of these apps only")
  func apps() async throws {
    let (file, key) = Self.registrar(["com.example.glance"])
    let devices = KnownDevices([
      "mine": registrationJSON("mine"), "theirs": registrationJSON("theirs", app: "com.other"),
    ])
    try await RunningGateway.run(keys: file, devices: devices) { gateway, _ in
      let client = try gateway.client()
      func ask(_ method: String, _ path: String, _ type: (String, String) = json, _ body: String = "") throws -> Int {
        try client.ask(method, "/v1/devices/\(path)", [key, type], body).status
      }
      for (device, status) in [("mine", 202), ("theirs", 403), ("new", 202)] {
        #expect(try ask("GET", device) == (device == "new" ? 404 : status == 202 ? 200 : 403))
        #expect(try ask("PUT", device, json, registrationJSON(device)) == status, "\(device)")
        #expect(try ask("POST", "\(device)/signals", structured, signalJSON("1", device: device)) == status)
        #expect(try ask("DELETE", device) == status, "\(device)")
      }
      #expect(try ask("PUT", "mine", json, registrationJSON("mine", app: "com.other")) == 403)
      #expect(try gateway.records("rouse.devices", count: 4).count == 4)
    }
  }

  @Test("while the view is being filled, only what needs it waits")
  func filling() async throws {
    let (file, key) = Self.registrar(["com.example.glance"])
    try await RunningGateway.run(keys: file, devices: KnownDevices([:], ageSeconds: nil)) { gateway, _ in
      let client = try gateway.client()
      func status(_ method: String, _ headers: [(String, String)] = [], _ body: String = "") throws -> Int {
        try client.ask(method, "/v1/devices/d-1", [key, json] + headers, body).status
      }
      #expect(try status("PUT", [], registrationJSON("d-1")) == 202)
      #expect(try status("PUT", [("If-Match", "*")], registrationJSON("d-1")) == 503)
      #expect(try status("PUT", [("If-None-Match", "*")], registrationJSON("d-1")) == 503)
      #expect(try status("GET") == 503)
      #expect(try status("DELETE") == 503, "it might be a device of another app")
    }
  }

  @Test("a view that cannot be read lets no change pass that it should check")
  func broken() async throws {
    let (file, key) = Self.registrar(["com.example.glance"])
    let devices = KnownDevices(["d-1": registrationJSON("d-1")], failure: "the disk is gone")
    try await RunningGateway.run(keys: file, devices: devices) { gateway, _ in
      let client = try gateway.client()
      for method in ["GET", "PUT", "DELETE"] {
        let answer = try client.ask(
          method, "/v1/devices/d-1", [key, json], method == "PUT" ? registrationJSON("d-1") : "")
        #expect(
          answer.status == 503 && answer.headers["retry-after"] == "5" && answer.text.contains("the disk is gone"))
      }
    }
  }

  @Test("a gateway without a view says so, and does not pass over If-Match and If-None-Match")
  func without() async throws {
    try await RunningGateway.run { gateway, _ in
      let client = try gateway.client()
      let answer = try client.ask("GET", "/v1/devices/d-1")
      #expect(answer.status == 404 && answer.text.contains("gateway.devicesView") && answer.text.contains("not-found"))
      #expect(try client.ask("DELETE", "/v1/devices/d-1", [("If-Match", "*")]).status == 412)
      let put = try client.ask("PUT", "/v1/devices/d-1", [json, ("If-None-Match", "*")], registrationJSON("d-1"))
      #expect(put.status == 412 && put.text.contains("cannot check If-None-Match"))
      #expect(try client.ask("DELETE", "/v1/devices/d-1").status == 202)
    }
  }
}
