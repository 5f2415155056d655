import Foundation
import Testing

@testable import RouseClient

@Suite("Sending") struct SendingTests {
  @Test("signals go in batches, oldest first, each with an id of its own, and are gone when they are acknowledged")
  func batches() async throws {
    let world = ClientWorld()
    let client = try world.client { $0.batchMax = 2 }
    for instance in ["w-1", "w-2", "w-3"] { try await client.enqueue(.widgetFetched(instance: instance)) }
    #expect(try await client.status().waitingSignals == 3)
    #expect(await client.flush() == .empty)
    #expect(try await client.status().waitingSignals == 0)
    #expect(world.requests.map(\.method) == ["POST", "POST"])
    #expect(
      world.requests.allSatisfy { $0.path == "http://gateway.example/base/v1/devices/phone%2F1%20%C3%A9/signals" })
    let signals = try world.requests.flatMap { try $0.signals }
    #expect(signals.map { ($0["data"] as? [String: Any])?["instance"] as? String } == ["w-1", "w-2", "w-3"])
    #expect(Set(signals.compactMap { $0["id"] as? String }).count == 3)
    let first = try #require(signals.first)
    #expect(first["type"] as? String == "rouse.signal.widget.fetched" && first["specversion"] as? String == "1.0")
    #expect(first["subject"] as? String == "phone/1 é" && first["time"] as? String == "2027-01-15T08:00:00.000Z")
  }

  @Test("what a process has not sent, the next one sends under the same ids")
  func restarts() async throws {
    let world = ClientWorld([.lost])
    let first = try world.client()
    try await first.enqueue(.appForegrounded)
    try await first.update { $0.timeZone = "Europe/Rome" }
    #expect(await first.flush() == .later(.seconds(1)))
    try await first.enqueue(.appBackgrounded)
    let second = try world.client()
    #expect(await second.flush() == .later(.seconds(1)), "the pause outlives the process")
    #expect(world.requests.count == 1)
    world.advance(1)
    world.script([.status(202), .lost])
    #expect(await second.flush() != .empty)
    let lost = try #require(world.requests.last).ids
    world.advance(60)
    #expect(await (try world.client()).flush() == .empty)
    #expect(world.requests.map(\.method) == ["PUT", "PUT", "POST", "POST"])
    #expect(try #require(world.requests.last).ids == lost && lost.count == 2)
  }

  @Test("pauses double up to the longest with full jitter, and end with success")
  func backOff() async throws {
    let world = ClientWorld(Array(repeating: .status(503), count: 12))
    let client = try world.client(sendsByItself: true)
    try await client.enqueue(.appForegrounded)
    while try await client.status().waitingSignals > 0 { await Task.yield() }
    #expect(world.pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 450, 450, 450].map { .seconds($0) })
    #expect(world.requests.count == 13)
    #expect(try await client.status().failures == 0)
    let backOff = BackOff(first: .seconds(2), longest: .seconds(900))
    #expect(backOff.pause(after: 3, retryAfter: nil, random: 0) == .zero)
    #expect(backOff.pause(after: 3, retryAfter: nil, random: 0.999) < .seconds(8))
    #expect(backOff.pause(after: 1_000_000, retryAfter: nil, random: 1) == .seconds(900))
    #expect(backOff.pause(after: 1, retryAfter: .seconds(7), random: 0.5) == .seconds(8))
  }

  @Test(
    "a pause that the server asks for is kept",
    arguments: [("30", 31.0), ("Fri, 15 Jan 2027 08:00:20 GMT", 21), ("99999999999999", 3601), ("soon", 1), ("-1", 1)])
  func retryAfter(header: String, seconds: Double) async throws {
    let world = ClientWorld([.status(429, headers: ["Retry-After": header])])
    let client = try world.client()
    try await client.enqueue(.appForegrounded)
    #expect(await client.flush() == .later(.seconds(seconds)))
    try await client.networkIsBack()
    world.advance(seconds - 0.5)
    let later = await client.flush()
    #expect(later == .later(.milliseconds(500)))
    #expect(world.requests.count == 1, "neither another call nor a new network ends it")
    world.advance(0.5)
    #expect(await client.flush() == .empty)
  }

  @Test("a pause after a lost network ends when the network is back")
  func network() async throws {
    let world = ClientWorld([.lost])
    let client = try world.client()
    try await client.enqueue(.appForegrounded)
    #expect(await client.flush() == .later(.seconds(1)))
    guard case .delayed(0, _, .seconds(1)) = world.reports.first else {
      Issue.record("\(world.reports)")
      return
    }
    try await client.networkIsBack()
    #expect(await client.flush() == .empty)
  }

  @Test("a clock that is set back does not prolong a pause beyond its bound")
  func clockSetBack() async throws {
    let world = ClientWorld([.status(503)])
    let client = try world.client()
    try await client.enqueue(.appForegrounded)
    #expect(await client.flush() == .later(.seconds(1)))
    world.advance(-86_400)
    #expect(await client.flush() == .empty)
  }

  @Test("however many call at once, one request is under way")
  func single() async throws {
    let world = ClientWorld()
    let client = try world.client(sendsByItself: true) { $0.batchMax = 1 }
    await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<20 {
        group.addTask {
          try await client.enqueue(.widgetViewed(instance: "w-\(index)"))
          await client.flush()
        }
      }
    }
    #expect(await client.flush() == .empty)
    #expect(world.requests.count == 20 && world.underwayMost == 1)
  }

  @Test("signals that are refused for good are dropped and reported, the others are sent")
  func refused() async throws {
    let world = ClientWorld([.status(400, body: problem("2 of 4 records were refused", wrong: [1, 3, 9]))])
    let client = try world.client()
    for index in 0..<4 { try await client.enqueue(.activityEnded(instance: "a-\(index)")) }
    #expect(await client.flush() == .empty)
    let instances = try world.requests.map { request in
      try request.signals.compactMap { ($0["data"] as? [String: Any])?["instance"] as? String }
    }
    #expect(instances == [["a-0", "a-1", "a-2", "a-3"], ["a-0", "a-2"]])
    let report = DeviceClientReport.signalRefused(
      type: "rouse.signal.activity.ended", status: 400, words: "2 of 4 records were refused")
    #expect(world.reports == [report, report])
    #expect(try await client.status().refusals == 2)
  }

  @Test("a refusal that names no signal is narrowed down to one")
  func narrowed() async throws {
    let world = ClientWorld(Array(repeating: .status(413), count: 4))
    let client = try world.client()
    for index in 0..<8 { try await client.enqueue(.activityEnded(instance: "a-\(index)")) }
    #expect(await client.flush() == .empty)
    #expect(try world.requests.map { try $0.signals.count } == [8, 4, 2, 1, 1, 2, 4])
    #expect(try await client.status().refusals == 1)
    let report = DeviceClientReport.signalRefused(
      type: "rouse.signal.activity.ended", status: 413, words: "the gateway answered with 413")
    #expect(world.reports == [report])
  }

  @Test("a lack of authorization drops nothing, and is reported", arguments: [401, 403])
  func unauthorized(status: Int) async throws {
    let world = ClientWorld([.status(status, body: problem("the key has expired"))])
    let client = try world.client { $0.authorization = { "Bearer secret" } }
    try await client.enqueue(.appForegrounded)
    #expect(await client.flush() == .later(.seconds(1)))
    #expect(world.reports.first == .unauthorized(status: status, words: "the key has expired"))
    #expect(try await client.status().waitingSignals == 1)
    world.advance(1)
    #expect(await client.flush() == .empty)
    #expect(world.requests.map(\.authorization) == ["Bearer secret", "Bearer secret"])
  }

  @Test(
    "an answer that is not the gateway's drops nothing",
    arguments: [(200, "text/html"), (204, ""), (302, "text/html"), (404, "text/html"), (400, "application/json")])
  func answeredByAnother(status: Int, type: String) async throws {
    let world = ClientWorld([.status(status, headers: ["Content-Type": type], body: "{}")])
    let client = try world.client()
    try await client.enqueue(.appForegrounded)
    #expect(await client.flush() == .later(.seconds(1)))
    #expect(try await client.status().waitingSignals == 1)
    world.advance(1)
    #expect(await client.flush() == .empty)
    #expect(world.requests.count == 2)
  }

  @Test("a call after a stop sends, although the stopped request still ends")
  func stoppedAndCalledAgain() async throws {
    let world = ClientWorld([.held])
    let client = try world.client { $0.batchMax = 1 }
    try await client.enqueue(.appForegrounded)
    try await client.enqueue(.appBackgrounded)
    let first = Task { await client.flush() }
    while world.requests.isEmpty { await Task.yield() }
    await client.stop()
    let second = Task { await client.flush() }
    for _ in 0..<100 { await Task.yield() }
    world.release()
    #expect(await first.value == .stopped)
    #expect(await second.value == .empty)
    #expect(world.requests.count == 2)
  }

  @Test("a client that is stopped sends nothing by itself, and keeps everything")
  func stopped() async throws {
    let world = ClientWorld(Array(repeating: .lost, count: 1000))
    let client = try world.client(sendsByItself: true)
    try await client.enqueue(.appForegrounded)
    while world.requests.isEmpty { await Task.yield() }
    await client.stop()
    _ = await client.flush()
    let count = world.requests.count
    for _ in 0..<100 { await Task.yield() }
    #expect(world.requests.count == count)
    #expect(try await client.status().waitingSignals == 1)
    world.script([])
    world.advance(86_400)
    #expect(await client.flush() == .empty)
  }
}
