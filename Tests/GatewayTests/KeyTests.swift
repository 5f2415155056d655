import Domain
import Foundation
import HTTPTesting
import JSON
import KafkaClient
import Serving
import Testing

@testable import Gateway
@testable import Keys

@Suite("Keys of the gateway") struct KeyTests {
  private static let time = Timestamp(microseconds: 1_700_000_000_000_000)

  private func inFile(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString).json").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  @Test("a key file is for its owner alone, and holds no secret")
  func file() throws {
    try inFile { path in
      var file = KeyFile()
      let (key, secret) = AccessKey.make(
        .publisher, sources: ["/a", "/b"], types: ["t"], subjects: ["s/"], created: Self.time,
        expires: Self.time + .hours(1))
      file.keys = [key, AccessKey.make(.registrar, apps: ["app"], created: Self.time).key]
      file.keys[1].revoked = Self.time
      try file.write(to: path)
      #expect(try KeyFile(path: path) == file)
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(!text.contains(secret) && !text.contains(secret.dropFirst(AccessKey.secretPrefix.count)))
      #expect(text.contains(SHA256.hexDigest(of: Array(secret.utf8))))
      let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(permissions == 0o600)
      #expect(!KeyFile.isOpenToOthers(path))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      #expect(KeyFile.isOpenToOthers(path))
    }
  }

  @Test("a mounted secret is judged by the file behind its link, and its group may read it")
  func mounted() throws {
    try inFile { path in
      try KeyFile().write(to: path)
      let link = path + ".link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      defer { try? FileManager.default.removeItem(atPath: link) }
      #expect(!KeyFile.isOpenToOthers(link))
      for (permissions, own, foreign) in [
        (0o400, false, false), (0o440, true, false), (0o460, true, true), (0o444, true, true),
      ] {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
        #expect(KeyFile.isOpenToOthers(link) == own, "\(permissions)")
        // Only root can give a file away.
        guard geteuid() == 0 else { continue }
        try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: path)
        #expect(KeyFile.isOpenToOthers(link) == foreign, "\(permissions)")
        try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: path)
      }
    }
  }

  @Test("secrets are long, begin alike and differ")
  func secrets() {
    let made = (0..<20).map { _ in AccessKey.make(.publisher, created: Self.time) }
    #expect(Set(made.map(\.secret)).count == 20 && Set(made.map(\.key.id)).count == 20)
    #expect(made.allSatisfy { $0.secret.hasPrefix("rouse_") && $0.secret.count == 6 + 64 })
  }

  @Test(
    "a file that is no key file is refused with the place",
    arguments: [
      ("{", "byte 1"), ("{}", "$.keys"), (#"{"keys":[{}]}"#, "$.keys[0].role"),
      (#"{"keys":[{"role":"x","sha256":"","id":"","created":""}]}"#, "$.keys[0].role"),
      (#"{"keys":[{"role":"auditor","sha256":"ab","id":"","created":""}]}"#, "$.keys[0].sha256"),
    ])
  func refused(text: String, place: String) {
    let error = #expect(throws: KeyFileError.self) { try KeyFile(Array(text.utf8)) }
    #expect(error?.description.contains(place) == true, "\(String(describing: error))")
  }

  @Test("the keys follow their file, keep their rate, and survive a file that cannot be used")
  func ring() throws {
    try inFile { path in
      var file = KeyFile()
      let (key, secret) = AccessKey.make(.publisher, created: Self.time, expires: Self.time + .hours(1))
      file.keys = [key]
      try file.write(to: path)
      let ring = try KeyRing(path: path, recordsPerSecond: 1, logger: RunningGateway.silent)
      let holder = try #require(ring.holder(of: secret))
      #expect(ring.holder(of: secret + "x") == nil && ring.holder(of: "") == nil)
      #expect(holder.key.isValid(at: Self.time) && !holder.key.isValid(at: Self.time + .hours(1)))
      holder.bucket?.take(1000)
      file.keys[0].revoked = Self.time
      file.keys.append(AccessKey.make(.auditor, created: Self.time).key)
      try file.write(to: path)
      ring.refresh()
      let revoked = try #require(ring.holder(of: secret))
      #expect(!revoked.key.isValid(at: Self.time))
      #expect(revoked.bucket?.secondsUntilAdmitted() != nil, "a change of the file fills no bucket")
      #expect(ring.count == 1)
      try Data("oops".utf8).write(to: URL(filePath: path))
      ring.refresh()
      #expect(ring.holder(of: secret) != nil)
      #expect(throws: KeyFileError.self) {
        try KeyRing(path: path + "-none", recordsPerSecond: nil, logger: RunningGateway.silent)
      }
    }
  }

  @Test("a key sends only what it may, and a refused record says what the key allows")
  func bounds() async throws {
    var file = KeyFile()
    let publisher = AccessKey.make(
      .publisher, sources: ["/flights", "/gates"], types: ["flight.delay.changed"], subjects: ["flight/"],
      created: Self.time)
    let registrar = AccessKey.make(.registrar, apps: ["com.example.glance"], created: Self.time)
    file.keys = [publisher.key, registrar.key]
    try await RunningGateway.run(keys: file) { gateway, _ in
      let client = try gateway.client()
      let key = ("authorization", "bearer \(publisher.secret)")
      #expect(
        try client.ask("POST", "/v1/events", [key, structured], eventJSON("1", source: "/gates/7")).status == 202)
      let source = try client.ask("POST", "/v1/events", [key, structured], eventJSON("2", source: "/gate"))
      #expect(source.status == 403)
      #expect(try JSONValue(parsing: source.text)["errors"]?[0]?["pointer"]?.text == "/source")
      let type = try client.ask(
        "POST", "/v1/events", [key, batched], "[\(eventJSON("3")),\(eventJSON("4", type: "flight.delay"))]")
      #expect(type.status == 403)
      let mistake = try #require(try JSONValue(parsing: type.text)["errors"]?[0])
      #expect(mistake["index"] == .number(1) && mistake["pointer"]?.text == "/1/type")
      let subject = try client.ask("POST", "/v1/events", [key, structured], eventJSON("5", subject: "lounge/1"))
      #expect(subject.status == 403)
      #expect(try JSONValue(parsing: subject.text)["errors"]?[0]?["pointer"]?.text == "/subject")
      let app = try client.ask(
        "PUT", "/v1/devices/d-1", [("authorization", "Bearer \(registrar.secret)"), json],
        registrationJSON("d-1", app: "com.example.other"))
      #expect(app.status == 403 && app.text.contains("com.example.other"))
      #expect(try gateway.records("events", count: 1).count == 1)
    }
  }

  @Test("what became of a command is said by a sender, and by nobody who only registers devices")
  func senders() async throws {
    var file = KeyFile()
    let registrar = AccessKey.make(.registrar, created: Self.time)
    let sender = AccessKey.make(.sender, created: Self.time)
    let bound = AccessKey.make(.sender, apps: ["com.example.other"], created: Self.time)
    file.keys = [registrar.key, sender.key, bound.key]
    func report(_ type: String, _ data: String) -> String {
      #"{"specversion":"1.0","id":"1","source":"/s","type":"rouse.signal.\#(type)","data":\#(data)}"#
    }
    let delivery = report("delivery.completed", #"{"command":"c-0-1-0","outcome":"refused"}"#)
    let rejected = report("token.rejected", #"{"token":"ab12"}"#)
    let viewed = report("widget.viewed", "{}")
    try await RunningGateway.run(keys: file, devices: KnownDevices(["d-1": registrationJSON("d-1")])) { gateway, _ in
      let client = try gateway.client()
      for (secret, body, status) in [
        (registrar.secret, delivery, 403), (registrar.secret, rejected, 202), (registrar.secret, viewed, 202),
        (sender.secret, delivery, 202), (sender.secret, rejected, 202), (sender.secret, viewed, 403),
        (bound.secret, delivery, 403),
      ] {
        let key = ("authorization", "Bearer \(secret)")
        let answer = try client.ask("POST", "/v1/devices/d-1/signals", [key, structured], body)
        #expect(answer.status == status, "\(body): \(answer.text)")
      }
      let mixed = try client.ask(
        "POST", "/v1/devices/d-1/signals", [("authorization", "Bearer \(registrar.secret)"), batched],
        "[\(viewed),\(delivery)]")
      let mistake = try #require(try JSONValue(parsing: mixed.text)["errors"]?[0])
      #expect(mixed.status == 403 && mistake["pointer"]?.text == "/1/type")
      #expect(mistake["detail"]?.text == "a signal of this type needs a key with the role sender")
      let device = try client.ask(
        "PUT", "/v1/devices/d-1", [("authorization", "Bearer \(sender.secret)"), json], registrationJSON("d-1"))
      #expect(device.status == 403)
      #expect(try gateway.records("rouse.signals", count: 4).count == 4)
    }
  }

  @Test("each record says who sent it, also the removal of a device, and a client cannot say it instead")
  func sentBy() async throws {
    var file = KeyFile()
    let publisher = AccessKey.make(.publisher, created: Self.time)
    let registrar = AccessKey.make(.registrar, created: Self.time)
    file.keys = [publisher.key, registrar.key]
    try await RunningGateway.run(keys: file) { gateway, _ in
      let client = try gateway.client()
      let key = ("authorization", "bearer \(publisher.secret)")
      let forged = ("rouse-sent-by", "somebody")
      let binary = [
        ("ce-specversion", "1.0"), ("ce-id", "4"), ("ce-source", "/a"), ("ce-type", "t"),
        ("ce-subject", "s"), ("ce-rouse-sent-by", "x"),
      ]
      #expect(try client.ask("POST", "/v1/events", [key, forged, structured], eventJSON("1")).status == 202)
      let batch = "[\(eventJSON("2")),\(eventJSON("3"))]"
      #expect(try client.ask("POST", "/v1/events", [key, batched], batch).status == 202)
      #expect(try client.ask("POST", "/v1/events", [key, forged, json] + binary, "{}").status == 202)
      let bearer = ("authorization", "Bearer \(registrar.secret)")
      #expect(try client.ask("PUT", "/v1/devices/d-1", [bearer, json], registrationJSON("d-1")).status == 202)
      #expect(try client.ask("DELETE", "/v1/devices/d-1", [bearer]).status == 202)
      for (topic, count, sender) in [("events", 4, publisher.key.id), ("rouse.devices", 2, registrar.key.id)] {
        let records = try gateway.records(topic, count: count)
        #expect(records.count == count)
        for record in records {
          let senders = record.headers.filter { $0.name == GatewayService.sentByHeader }.map(\.value)
          #expect(senders == [Array(sender.utf8)], "\(topic)[\(record.partition)]@\(record.offset)")
        }
      }
    }
  }

  @Test("a bucket admits while it is not empty, goes into debt, and fills at its rate")
  func bucket() {
    let start = ContinuousClock.now
    let bucket = TokenBucket(perSecond: 10, now: start)
    #expect(bucket.secondsUntilAdmitted(at: start) == nil)
    bucket.take(20, at: start)
    #expect(bucket.secondsUntilAdmitted(at: start) == 1)
    #expect(bucket.secondsUntilAdmitted(at: start + .milliseconds(100)) == nil)
    bucket.take(100, at: start + .milliseconds(100))
    #expect(bucket.secondsUntilAdmitted(at: start + .milliseconds(100)) == 10)
    #expect(bucket.secondsUntilAdmitted(at: start + .seconds(11)) == nil)
    #expect(bucket.secondsUntilAdmitted(at: start) == nil, "time that runs backwards changes nothing")
    let later = start + .seconds(1000)
    bucket.take(20, at: later)
    #expect(bucket.secondsUntilAdmitted(at: later) == 1, "no more than two seconds' worth is kept")
  }
}
