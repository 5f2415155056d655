import Foundation
import Testing

@testable import RouseClient

@Suite("Registering") struct RegistrationTests {
  @Test("a registration has every field of the schema")
  func document() async throws {
    let world = ClientWorld()
    let client = try world.client()
    let start = Date(timeIntervalSince1970: 1_799_999_000.5)
    try await client.update { registration in
      registration.platform = "iPadOS"
      registration.osVersion = "26.1"
      registration.timeZone = "Europe/Rome"
      registration.tokens.widgets = PushToken(Data([0x0a, 0xff, 0x10]))
      registration.tokens.background = PushToken(digits: "ab")
      registration.widgets = [
        .init(id: "w-1", kind: "Flight", family: "systemSmall", interests: ["f/1"], nextReload: start)
      ]
      registration.controls = [.init(id: "c-1", kind: "Gate", token: PushToken(digits: "cd"), interests: [])]
      registration.activities = [
        .init(id: "a-1", kind: "Trip", token: PushToken(digits: "ef"), interests: ["f/1"], startedAt: start),
        .init(id: "a-2", kind: "Match", channel: "dHN0", interests: [], startedAt: start),
      ]
      registration.pushToStart = [.init(kind: "Trip", token: PushToken(digits: "01"), interests: ["team/roma"])]
    }
    #expect(await client.flush() == .empty)
    let request = try #require(world.requests.first)
    #expect(request.method == "PUT" && request.path.hasSuffix("/base/v1/devices/phone%2F1%20%C3%A9"))
    let object = try request.object
    #expect(
      object.keys.sorted() == [
        "activities", "app", "controls", "developerMode", "device", "environment", "osVersion", "platform",
        "pushToStart", "timeZone", "tokens", "updatedAt", "widgets",
      ])
    #expect((object["tokens"] as? [String: String]) == ["widgets": "0aff10", "background": "ab"])
    #expect(object["updatedAt"] as? String == "2027-01-15T08:00:00.000Z")
    let activities = try #require(object["activities"] as? [[String: Any]])
    #expect(activities[0]["startedAt"] as? String == "2027-01-15T07:43:20.500Z")
    #expect(activities[0]["channel"] == nil && activities[1]["token"] == nil)
  }

  @Test("the newest registration wins, one that changes nothing is not sent, and times only grow")
  func newest() async throws {
    let world = ClientWorld()
    let client = try world.client()
    try await client.register(DeviceRegistration(platform: "iOS", osVersion: "26.0", timeZone: "UTC"))
    try await client.update { $0.osVersion = "26.1" }
    #expect(await client.flush() == .empty)
    try await client.update { $0.osVersion = "26.1" }
    #expect(await client.flush() == .empty)
    #expect(world.requests.count == 1)
    #expect(try #require(world.requests.first).object["osVersion"] as? String == "26.1")
    world.advance(-3000)
    try await client.update { $0.osVersion = "26.2" }
    #expect(await client.flush() == .empty)
    let stamps = try world.requests.map { try $0.object["updatedAt"] as? String }
    #expect(stamps == ["2027-01-15T08:00:00.000Z", "2027-01-15T08:00:00.001Z"])
  }

  @Test("a registration that is refused for good is reported, and sent again after the next update")
  func refused() async throws {
    let world = ClientWorld([.status(400, body: problem("$.timeZone: unknown"))])
    let client = try world.client()
    try await client.update { $0.timeZone = "Mars" }
    try await client.enqueue(.appForegrounded)
    #expect(await client.flush() == .empty)
    #expect(world.requests.map(\.method) == ["PUT", "POST"], "signals do not wait for it")
    #expect(world.reports == [.registrationRefused(status: 400, words: "$.timeZone: unknown")])
    #expect(await client.flush() == .empty)
    #expect(world.requests.count == 2)
    try await client.update { _ in }
    #expect(await client.flush() == .empty)
    #expect(world.requests.map(\.method) == ["PUT", "POST", "PUT"])
    #expect(try await client.status().refusals == 1)
  }

  @Test("a change while an older registration is under way is sent after it")
  func overtaken() async throws {
    let world = ClientWorld()
    let client = try world.client { settings in
      let other = world
      settings.authorization = {
        // Runs between the reading of the registration and its answer.
        if other.requests.isEmpty { try await other.client().update { $0.osVersion = "26.9" } }
        return nil
      }
    }
    try await client.update { $0.osVersion = "26.1" }
    #expect(await client.flush() == .empty)
    let versions = try world.requests.map { try $0.object["osVersion"] as? String }
    #expect(versions == ["26.1", "26.9"])
  }

  @Test("a forgotten device leaves nothing behind, and can be registered again")
  func forget() async throws {
    let world = ClientWorld([.lost])
    let client = try world.client()
    try await client.update { $0.osVersion = "26.1" }
    try await client.enqueue(.appForegrounded)
    try await client.forget()
    #expect(try await client.status().waitingSignals == 0)
    #expect(try await client.registration() == nil)
    _ = await client.flush()
    world.advance(60)
    #expect(await client.flush() == .empty)
    #expect(world.requests.map(\.method) == ["DELETE", "DELETE"])
    try await client.update { $0.osVersion = "26.1" }
    #expect(await client.flush() == .empty)
    #expect(world.requests.map(\.method) == ["DELETE", "DELETE", "PUT"])
  }

  @Test(
    "a clock that is wrong is corrected by the server's date, once",
    arguments: [(-7200.0, 400, "2027-01-15T06:00:00.000Z"), (86_400, 202, "2027-01-16T08:00:00.000Z")])
  func clock(ahead: TimeInterval, status: Int, expected: String) async throws {
    let world = ClientWorld([.status(status, body: problem("$.updatedAt: ahead"))])
    world.set(ahead: ahead)
    let client = try world.client()
    try await client.update { $0.osVersion = "26.1" }
    #expect(await client.flush() == .empty)
    let stamps = try world.requests.map { try $0.object["updatedAt"] as? String }
    #expect(stamps == ["2027-01-15T08:00:00.000Z", expected])
    #expect(world.reports == [])
    try await client.enqueue(.appForegrounded)
    #expect(await client.flush() == .empty)
    #expect(try #require(world.requests.last).signals.first?["time"] as? String == expected)
  }

  @Test("clocks that contradict each other cause no storm of requests")
  func clocks() async throws {
    let world = ClientWorld()
    let client = try world.client { settings in
      settings.authorization = {
        world.set(ahead: world.requests.count.isMultiple(of: 2) ? 86_400 : -86_400)
        return nil
      }
    }
    try await client.update { $0.osVersion = "26.1" }
    #expect(await client.flush() == .empty)
    #expect(world.requests.count == 2)
  }

  @Test(
    "times are written as RFC 3339 has them",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (1_800_000_000_120, "2027-01-15T08:00:00.120Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
      (999, "1970-01-01T00:00:00.999Z"),
    ] as [(Int64, String)])
  func times(milliseconds: Int64, text: String) throws {
    #expect(ServerTime(milliseconds: milliseconds).text == text)
    #expect(ServerTime(Date(timeIntervalSince1970: Double(milliseconds) / 1000)).milliseconds == milliseconds)
  }
}
