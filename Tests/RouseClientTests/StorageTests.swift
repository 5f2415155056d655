import Foundation
import Testing

@testable import RouseClient

@Suite("The folder of a client") struct StorageTests {
  private static func instances(_ world: ClientWorld) throws -> [String] {
    try world.requests.flatMap { try $0.signals }.compactMap { ($0["data"] as? [String: Any])?["instance"] as? String }
  }

  @Test("a full queue drops the oldest signals, and counts them for every process", arguments: [true, false])
  func full(byBytes: Bool) async throws {
    let world = ClientWorld()
    let client = try world.client {
      if byBytes { $0.queueBytesMax = 3 * 150 } else { $0.signalsMax = 3 }
    }
    for index in 0..<10 {
      world.advance(1)
      try await client.enqueue(.widgetViewed(instance: "w-\(index)"))
    }
    #expect(try await client.status().waitingSignals == 3)
    #expect(try await (try world.client()).status().droppedSignals == 7)
    #expect(world.reports == Array(repeating: .signalsDropped(count: 1), count: 7))
    #expect(await client.flush() == .empty)
    #expect(try Self.instances(world) == ["w-7", "w-8", "w-9"])
  }

  @Test("torn signals are removed and counted, the others are sent")
  func torn() async throws {
    let world = ClientWorld()
    // Files have the times of the system.
    world.advance(Date().timeIntervalSince(world.now))
    let client = try world.client()
    for index in 0..<4 { try await client.enqueue(.widgetViewed(instance: "w-\(index)")) }
    let signals = world.folder.appending(path: "signals")
    let names = try FileManager.default.contentsOfDirectory(atPath: signals.path).sorted()
    try Data().write(to: signals.appending(path: names[0]))
    let half = try Data(contentsOf: signals.appending(path: names[2])).prefix(40)
    try half.write(to: signals.appending(path: names[2]))
    let stray = signals.appending(path: "stray.tmp")
    try Data("x".utf8).write(to: stray)
    let next = try world.client()
    #expect(await next.flush() == .empty)
    #expect(try Self.instances(world) == ["w-1", "w-3"])
    #expect(world.reports == [.signalsDamaged(count: 2)])
    #expect(try await next.status().damagedFiles == 2)
    #expect(FileManager.default.fileExists(atPath: stray.path), "another process may be writing it")
    world.advance(3700)
    #expect(try await (try world.client()).status().waitingSignals == 0)
    #expect(!FileManager.default.fileExists(atPath: stray.path))
  }

  @Test("a torn state is begun anew, said once, and the signals stay")
  func tornState() async throws {
    let world = ClientWorld()
    let client = try world.client()
    try await client.update { $0.osVersion = "26.1" }
    try await client.enqueue(.appForegrounded)
    try Data(#"{"phase":"pend"#.utf8).write(to: world.folder.appending(path: "state.json"))
    let next = try world.client()
    #expect(try await next.registration() == nil)
    #expect(world.reports == [.stateDamaged])
    #expect(await next.flush() == .empty)
    try await next.update { $0.osVersion = "26.2" }
    #expect(await next.flush() == .empty)
    #expect(world.requests.map(\.method) == ["POST", "PUT"])
    #expect(world.reports == [.stateDamaged])
  }

  @Test("a folder that cannot be had is an error of every call, and no reason to lose anything")
  func noFolder() async throws {
    let world = ClientWorld()
    try Data().write(to: world.folder)
    let client = try world.client()
    await #expect(throws: DeviceClientError.self) { try await client.enqueue(.appForegrounded) }
    await #expect(throws: DeviceClientError.self) { try await client.update { $0.osVersion = "1" } }
    guard case .later = await client.flush(), case .storageFailed(.storage) = world.reports.first else {
      Issue.record("\(world.reports)")
      return
    }
    try FileManager.default.removeItem(at: world.folder)
    try await client.enqueue(.appForegrounded)
    #expect(await client.flush() == .empty)
  }

  @Test("a device without a name gets one, which stays")
  func device() async throws {
    let world = ClientWorld()
    let ids = try await [
      (try world.client { $0.device = nil }).device(), (try world.client { $0.device = nil }).device(),
    ]
    #expect(ids[0] == ids[1] && UUID(uuidString: ids[0]) != nil)
    #expect(try await (try world.client()).device() == "phone/1 é")
  }

  @Test("changes of several clients at a time are all kept")
  func changes() async throws {
    let world = ClientWorld()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<4 {
        let client = try (DeviceClient(world.settings()), client)
        group.addTask {
          for index in 0..<25 {
            try await client.0.update { registration in
              registration.widgets.append(.init(id: "\(client.1)-\(index)", kind: "k", interests: []))
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await (try world.client()).registration()?.widgets.count == 100)
  }

  @Test("an app and its widget extension use one folder at the same time")
  func processes() async throws {
    let world = ClientWorld()
    let client = try DeviceClient(world.settings())
    async let child = #expect(processExitsWith: .success) { [folder = world.folder.path as String] in
      guard let gateway = URL(string: "http://127.0.0.1:9") else { exit(3) }
      var settings = DeviceClientSettings(
        gateway: gateway, app: "com.example.flights", environment: .production,
        folder: URL(filePath: folder))
      settings.device = "phone/1 é"
      settings.sendsByItself = false
      let client = DeviceClient(settings)
      for index in 0..<30 {
        try await client.update { $0.widgets.append(.init(id: "child-\(index)", kind: "k", interests: [])) }
        try await client.enqueue(.widgetFetched(instance: "child-\(index)"))
      }
    }
    for index in 0..<30 {
      try await client.update { $0.widgets.append(.init(id: "parent-\(index)", kind: "k", interests: [])) }
      try await client.enqueue(.widgetFetched(instance: "parent-\(index)"))
      _ = await client.flush()
    }
    _ = await child
    #expect(await client.flush() == .empty)
    #expect(try await client.registration()?.widgets.count == 60)
    let instances = try world.requests.filter { $0.method == "POST" }.flatMap { try $0.signals }
      .compactMap { ($0["data"] as? [String: Any])?["instance"] as? String }
    #expect(instances.count == 60 && Set(instances).count == 60)
    #expect(
      try await client.status()
        == DeviceClientStatus(
          waitingSignals: 0, isRegistrationWaiting: false, failures: 0, droppedSignals: 0, damagedFiles: 0, refusals: 0)
    )
  }
}
