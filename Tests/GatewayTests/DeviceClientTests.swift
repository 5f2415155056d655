import Dispatch
import Domain
import Foundation
import HTTPTesting
import JSON
import KafkaClient
import Keys
import RouseClient
import Serving
import Synchronization
import Testing

@testable import Gateway

/// The library for apps does with a real gateway, over real sockets, what it says.
@Suite("The client for apps with a gateway") struct DeviceClientTests {
  private final class Reports: Sendable {
    let all = Mutex<[DeviceClientReport]>([])
    var words: String { all.withLock { "\($0)" } }
  }

  /// Waits for a task from a thread that may block.
  private static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Value, any Error>?>(nil)
    Task {
      let value: Result<Value, any Error>
      do { value = .success(try await body()) } catch { value = .failure(error) }
      result.withLock { $0 = value }
      done.signal()
    }
    done.wait()
    return try #require(result.withLock { $0 }).get()
  }

  private static func settings(
    _ port: Int, _ folder: URL, _ reports: Reports, app: String = "com.example.glance"
  ) throws -> DeviceClientSettings {
    var settings = DeviceClientSettings(
      gateway: try #require(URL(string: "http://127.0.0.1:\(port)")), app: app, environment: .sandbox, folder: folder)
    settings.device = "d/1 é"
    settings.sendsByItself = false
    settings.firstPause = .zero
    settings.report = { report in reports.all.withLock { $0.append(report) } }
    return settings
  }

  private static func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  @Test("a registration with everything, every signal and a removal arrive as intake takes them")
  func everything() async throws {
    try await RunningGateway.run { gateway, _ in
      try Self.withFolder { folder in
        let reports = Reports()
        let settings = try Self.settings(gateway.server.address.port, folder, reports)
        let token = PushToken(Data([0xab, 0xcd]))
        let signals: [DeviceSignal] = [
          .appForegrounded, .widgetFetched(instance: "w-1"), .widgetFetched(instance: nil),
          .widgetViewed(instance: "w-1"), .activityStarted(instance: "a-1"), .activityEnded(instance: "a-1"),
          .activityDismissed(instance: "a-2"), .tokenRejected(token), .appBackgrounded,
        ]
        let start = Date()
        try Self.wait {
          let client = DeviceClient(settings)
          try await client.update { registration in
            registration.tokens = .init(widgets: token, background: token)
            registration.widgets = [.init(id: "w-1", kind: "Flight", interests: ["f/1"], nextReload: start)]
            registration.controls = [.init(id: "c-1", kind: "Gate", token: token, interests: ["f/1"])]
            registration.activities = [
              .init(id: "a-1", kind: "Trip", token: token, interests: ["f/1"], startedAt: start, frequentPushes: true),
              .init(id: "a-2", kind: "Match", channel: "dHN0", interests: [], startedAt: start),
            ]
            registration.pushToStart = [.init(kind: "Trip", token: token, interests: ["team/roma"])]
          }
          for signal in signals { try await client.enqueue(signal) }
          #expect(await client.flush() == .empty)
          try await client.forget()
          #expect(await client.flush() == .empty)
        }
        #expect(reports.words == "[]")
        let devices = try gateway.records("rouse.devices", count: 2)
        #expect(devices.map(\.key) == [Array("d/1 é".utf8), Array("d/1 é".utf8)] && devices.last?.value == nil)
        let record = CloudEventRecord(
          key: devices[0].key, value: devices[0].value, timestamp: Timestamp(microseconds: 0))
        let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        guard case .registration(let found) = try PublicRecordDecoder().decode(record, from: .devices, now: now) else {
          Issue.record("no registration")
          return
        }
        #expect(found.widgets.count == 1 && found.controls.count == 1 && found.activities.count == 2)
        #expect(found.pushToStart.count == 1 && found.activities[0].frequentPushes)
        let sent = try gateway.records("rouse.signals", count: signals.count)
        let types = try sent.map {
          try JSONValue(parsing: String(decoding: $0.value ?? [], as: UTF8.self))["type"]?.text
        }
        #expect(
          types.compactMap(\.self)
            == [
              "app.foregrounded", "widget.fetched", "widget.fetched", "widget.viewed", "activity.started",
              "activity.ended", "activity.dismissed", "token.rejected", "app.backgrounded",
            ].map { "rouse.signal.\($0)" })
      }
    }
  }

  @Test("signals survive brokers that are away and a new process, under the same ids")
  func brokersAway() async throws {
    try await RunningGateway.run {
      $0.bounds.deliveryTime = .seconds(1)
    } _: { gateway, broker in
      try Self.withFolder { folder in
        let reports = Reports()
        let settings = try Self.settings(gateway.server.address.port, folder, reports)
        try broker.set(isUp: false)
        let pause = try Self.wait {
          let client = DeviceClient(settings)
          try await client.enqueue(.appForegrounded)
          try await client.enqueue(.appBackgrounded)
          return await client.flush()
        }
        guard case .later(let left) = pause else {
          Issue.record("\(pause)")
          return
        }
        #expect(left > .seconds(4) && left <= .seconds(5), "as the gateway's Retry-After says")
        #expect(reports.words.contains("status: 503") && reports.words.contains("0 of 2 records"))
        try broker.set(isUp: true)
        // The pause of the gateway is over by the clock of the next process.
        let state = folder.appending(path: "state.json")
        var text = try String(contentsOf: state, encoding: .utf8)
        text.replace(#/"retryAt":\{"milliseconds":\d+\}/#, with: #""retryAt":{"milliseconds":0}"#)
        try text.write(to: state, atomically: true, encoding: .utf8)
        var outcome = pause
        while outcome != .empty { outcome = try Self.wait { await DeviceClient(settings).flush() } }
        let sent = try gateway.records("rouse.signals", count: 2)
        #expect(Set(sent.compactMap(\.value)).count == 2)
      }
    }
  }

  @Test("what the gateway refuses is dropped alone, in the gateway's words")
  func refused() async throws {
    try await RunningGateway.run { gateway, _ in
      try Self.withFolder { folder in
        let reports = Reports()
        let settings = try Self.settings(gateway.server.address.port, folder, reports)
        try Self.wait {
          let client = DeviceClient(settings)
          try await client.update { $0.timeZone = "Mars/Olympus" }
          try await client.enqueue(.appForegrounded)
          try await client.enqueue(.tokenRejected(PushToken(digits: String(repeating: "a", count: 513))))
          try await client.enqueue(.appBackgrounded)
          #expect(await client.flush() == .empty)
          #expect(try await client.status().refusals == 2)
          try await client.update { $0.timeZone = "Europe/Rome" }
          #expect(await client.flush() == .empty)
        }
        #expect(reports.words.contains("Mars/Olympus") && reports.words.contains("1 of 3 records were refused"))
        #expect(reports.all.withLock { $0.count } == 2)
        #expect(try gateway.records("rouse.signals", count: 2).count == 2)
        #expect(try gateway.records("rouse.devices", count: 1).count == 1)
      }
    }
  }

  @Test("a key that the gateway does not know, or of another app, drops nothing")
  func keys() async throws {
    let registrar = AccessKey.make(
      .registrar, apps: ["com.example.glance"], created: Timestamp(microseconds: 1_700_000_000_000_000))
    var file = KeyFile()
    file.keys = [registrar.key]
    try await RunningGateway.run(keys: file, runsProducer: true) { gateway, _ in
      try Self.withFolder { folder in
        let reports = Reports()
        var settings = try Self.settings(gateway.server.address.port, folder, reports)
        func attempt(_ key: String, app: String) throws -> DeviceClient.FlushOutcome {
          settings.authorization = { "Bearer \(key)" }
          settings.app = app
          let client = DeviceClient(settings)
          return try Self.wait {
            try await client.update { $0.osVersion = "26.1" }
            return await client.flush()
          }
        }
        #expect(try attempt("nonsense", app: "com.example.glance") == .later(.zero))
        #expect(try attempt(registrar.secret, app: "com.example.other") == .later(.zero))
        #expect(try attempt(registrar.secret, app: "com.example.glance") == .empty)
        #expect(
          reports.words.contains("unauthorized(status: 401") && reports.words.contains("unauthorized(status: 403"))
        #expect(try gateway.records("rouse.devices", count: 1).count == 1)
      }
    }
  }

  @Test("a gateway that is gone is a lost network: everything stays on disk")
  func gone() async throws {
    let port = Mutex(0)
    try await RunningGateway.run(runsProducer: false) { gateway, _ in
      port.withLock { $0 = gateway.server.address.port }
    }
    let closed = port.withLock { $0 }
    try await onThread {
      try Self.withFolder { folder in
        let reports = Reports()
        let settings = try Self.settings(closed, folder, reports)
        try Self.wait {
          let client = DeviceClient(settings)
          try await client.enqueue(.appForegrounded)
          #expect(await client.flush() == .later(.zero))
          #expect(try await client.status().waitingSignals == 1)
        }
        #expect(reports.words.contains("delayed(status: 0"))
      }
    }
  }
}
