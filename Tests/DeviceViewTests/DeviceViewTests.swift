import Dispatch
import Domain
import Foundation
import GRDB
import KafkaClient
import Logging
import Observing
import Synchronization
import Testing

@testable import DeviceView

@Suite("The view of the registrations") struct DeviceViewTests {
  private static let topic = "rouse.devices"
  private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  private static let start = Date(timeIntervalSince1970: 1_800_000_000)

  /// A broker, and the file of a view.
  private final class ViewPlace {
    let folder = FileManager.default.temporaryDirectory.appending(path: "view-\(UUID().uuidString)")
    let metrics = DeviceViewMetrics(MetricRegistry())
    var broker: EmbeddedBroker
    var path: String { folder.appending(path: "devices.sqlite").path }

    init() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      broker = try Self.broker()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func broker(partitions: Int = 3) throws -> EmbeddedBroker {
      let broker = try EmbeddedBroker()
      try broker.createTopic(topic, partitions: partitions)
      return broker
    }

    /// Writes registrations; nil forgets the device.
    func write(_ records: [(device: String, value: String?)]) throws {
      let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers, "partitioner": "murmur2_random"])
      for (device, value) in records {
        try producer.send(
          KafkaRecord(topic: topic, key: Array(device.utf8), value: value.map { Array($0.utf8) }))
      }
      try producer.flush(timeout: .seconds(60))
    }

    /// Runs a feed until the view is current at a time, or a condition holds.
    func feed(_ store: DeviceStore, at now: Date, until isDone: ((DeviceStore) throws -> Bool)? = nil) throws {
      let feed = DeviceFeed(
        store, topic: topic, kafka: ["bootstrap.servers": broker.bootstrapServers, "group.id": "view"],
        metrics: metrics, logger: silent, now: { now })
      var failure: (any Error)?
      try feed.run {
        do { return try !(isDone?(store) ?? (store.age(at: now) == 0)) } catch {
          failure = error
          return false
        }
      }
      if let failure { throw failure }
    }

    func count(_ outcome: String) -> Double {
      metrics.records.value([outcome])
    }

    func open() throws -> DeviceStore { try DeviceStore(path: path, topic: topic) }
  }

  private static func json(_ device: String, updatedAt: String = "2026-11-22T12:00:00Z", app: String = "a") -> String {
    """
    {"device":"\(device)","app":"\(app)","environment":"production","platform":"iOS","osVersion":"26.1",\
    "timeZone":"Europe/Rome","updatedAt":"\(updatedAt)"}
    """
  }

  private static func text(_ store: DeviceStore, _ device: String) throws -> String? {
    try store.find(device).map { String(decoding: $0.value, as: UTF8.self) }
  }

  /// Runs a test on a thread of its own, because it blocks.
  private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }

  @Test("the newest updatedAt is in force, a forgotten device is gone, and what intake refuses changes nothing")
  func content() async throws {
    try await Self.onThread {
      let place = try ViewPlace()
      let (old, new) = (Self.json("d-1", updatedAt: "2026-11-20T00:00:00Z"), Self.json("d-1", app: "b"))
      try place.write([
        ("d-1", new), ("d-1", old), ("d-2", Self.json("d-2")), ("d-2", nil), ("d-3", Self.json("other")), ("d-4", "{"),
        ("d/5 é", Self.json("d/5 é")), ("d-6", nil), ("d-2", old), ("channel/x", nil),
      ])
      let store = try place.open()
      #expect(store.age(at: Self.start) == nil)
      try place.feed(store, at: Self.start)
      #expect(try store.find("d-1") == StoredDevice(app: "b", value: Array(new.utf8)))
      let reader = DeviceListeners(path: place.path)
      let found = try reader.find("d-1", at: Self.start + 5)
      #expect(try found.device == store.find("d-1") && found.ageSeconds == 5)
      #expect(try reader.find("d-2", at: Self.start).device == nil)
      #expect(try Self.text(store, "d/5 é") == Self.json("d/5 é"))
      for device in ["d-2", "d-3", "d-4", "d-6"] { #expect(try store.find(device) == nil, "\(device)") }
      #expect(place.count("kept") == 3 && place.count("older") == 1 && place.count("forgotten") == 2)
      #expect(place.count("refused") == 4)
      // After its removal nothing older is known.
      try place.write([("d-1", nil), ("d-1", old)])
      try place.feed(store, at: Self.start) { try Self.text($0, "d-1") == old }
    }
  }

  @Test("the devices that listen are counted by kind and key, each once, and follow every change")
  func listeners() async throws {
    try await Self.onThread {
      let place = try ViewPlace()
      func registration(_ device: String, _ instances: String, updatedAt: String = "2026-11-22T12:00:00Z") -> String {
        Self.json(device, updatedAt: updatedAt).dropLast() + "," + instances + "}"
      }
      func widgets(_ pairs: [(kind: String, keys: [String])]) -> String {
        let widgets = pairs.enumerated().map { n, pair in
          let keys = pair.keys.map { "\"\($0)\"" }.joined(separator: ",")
          return "{\"id\":\"w\(n)\",\"kind\":\"\(pair.kind)\",\"interests\":[\(keys)]}"
        }
        return "\"widgets\":[\(widgets.joined(separator: ","))]"
      }
      try place.write([
        ("d-1", registration("d-1", widgets([("A", ["x", "y"]), ("A", ["x"]), ("B", ["x"])]))),
        ("d-2", registration("d-2", widgets([("A", ["y"])]))),
        ("d-3", registration("d-3", widgets([("B", ["x"])]))), ("d-4", registration("d-4", widgets([("C", ["x"])]))),
      ])
      let listeners = DeviceListeners(path: place.path)
      #expect(throws: DeviceStoreError.self) { try listeners.count([], at: Self.start) }
      let store = try place.open()
      let question = [
        DeviceListeners.ListenerGroup(kind: "A", keys: ["x", "y", "z"]), .init(kind: "B", keys: ["x"]),
        .init(kind: "D", keys: []),
      ]
      #expect(try listeners.count(question, at: Self.start).ageSeconds == nil)
      try place.feed(store, at: Self.start)
      #expect(
        try listeners.count(question, at: Self.start + 5)
          == DeviceListeners.ListenerCounts(groups: [2, 2, 0], devices: 3, ageSeconds: 5))
      let later = "2026-11-22T13:00:00Z"
      try place.write([
        ("d-1", registration("d-1", widgets([("A", ["z"])]), updatedAt: later)), ("d-3", nil),
        ("d-2", registration("d-2", widgets([("B", ["x"])]), updatedAt: "2026-11-22T11:00:00Z")),
      ])
      try place.feed(store, at: Self.start) { _ in
        try listeners.count(question, at: Self.start).groups == [2, 0, 0]
      }
      #expect(throws: DeviceStoreError.self) {
        try listeners.count([.init(kind: "A", keys: (0...DeviceListeners.pairsMax).map(String.init))], at: Self.start)
      }
      // Every change of the tables leaves the index as the registrations say.
      try store.startOver()
      #expect(try listeners.count(question, at: Self.start).devices == 0)
      #expect(try listeners.totals(at: Self.start) == .init(devices: 0, instances: [:], ageSeconds: nil))
    }
  }

  @Test("the devices and the instances of each kind are counted, and the sums follow every change")
  func totals() async throws {
    try await Self.onThread {
      let place = try ViewPlace()
      func registration(_ device: String, _ kinds: [String], updatedAt: String = "2026-11-22T12:00:00Z") -> String {
        let widgets = kinds.enumerated().map { "{\"id\":\"w\($0)\",\"kind\":\"\($1)\",\"interests\":[\"x\"]}" }
        return Self.json(device, updatedAt: updatedAt).dropLast() + ",\"widgets\":[\(widgets.joined(separator: ","))]}"
      }
      try place.write([
        ("d-1", registration("d-1", ["A", "A", "B"])), ("d-2", registration("d-2", ["A"])),
        ("d-3", registration("d-3", [])), ("d-4", registration("d-4", ["C"])),
      ])
      let store = try place.open()
      let reader = DeviceListeners(path: place.path)
      #expect(try reader.totals(at: Self.start) == .init(devices: 0, instances: [:], ageSeconds: nil))
      try place.feed(store, at: Self.start)
      #expect(
        try reader.totals(at: Self.start + 7) == .init(devices: 4, instances: ["A": 3, "B": 1, "C": 1], ageSeconds: 7))
      try place.write([
        ("d-1", registration("d-1", ["B", "B"], updatedAt: "2026-11-22T13:00:00Z")), ("d-4", nil), ("d-5", nil),
        ("d-2", registration("d-2", ["B"], updatedAt: "2026-11-22T11:00:00Z")),
      ])
      try place.feed(store, at: Self.start) { _ in
        try reader.totals(at: Self.start) == .init(devices: 3, instances: ["A": 1, "B": 2], ageSeconds: 0)
      }
      // A partition that is made anew takes its own devices away, and no others.
      _ = try store.apply([], anew: [0, 1, 2], next: [:])
      #expect(try reader.totals(at: Self.start) == .init(devices: 0, instances: [:], ageSeconds: nil))
    }
  }

  @Test("a new process answers at once with the age, and reads on where the last one stopped")
  func restart() async throws {
    try await Self.onThread {
      let place = try ViewPlace()
      try place.write((0..<500).map { ("d-\($0)", Self.json("d-\($0)")) })
      try place.feed(place.open(), at: Self.start)
      #expect(place.count("kept") == 500)
      let store = try place.open()
      #expect(store.age(at: Self.start + 60) == 60)
      #expect(try store.find("d-499") != nil)
      try place.write([("d-1", nil)])
      try place.feed(store, at: Self.start + 60)
      #expect(try store.find("d-1") == nil && store.find("d-2") != nil)
      #expect(place.count("kept") == 500 && place.count("forgotten") == 1, "nothing was read twice")
      #expect(store.age(at: Self.start + 90) == 30)
    }
  }

  @Test("a topic that was made anew, with fewer records or fewer partitions, replaces everything", arguments: [3, 1])
  func madeAnew(partitions: Int) async throws {
    try await Self.onThread {
      let place = try ViewPlace()
      try place.write((0..<50).map { ("d-\($0)", Self.json("d-\($0)")) })
      try place.feed(place.open(), at: Self.start)
      place.broker = try ViewPlace.broker(partitions: partitions)
      try place.write([("new", Self.json("new"))])
      let store = try place.open()
      try place.feed(store, at: Self.start + 1)
      #expect(try store.find("new") != nil)
      #expect(store.age(at: Self.start + 1) == 0)
      for index in 0..<50 { #expect(try store.find("d-\(index)") == nil) }
    }
  }

  @Test("a view that missed more than a broker keeps removals for is made anew")
  func missed() async throws {
    try await Self.onThread {
      let place = try ViewPlace()
      try place.write([("gone", Self.json("gone")), ("d-1", Self.json("d-1"))])
      try place.feed(place.open(), at: Self.start)
      // As compaction leaves a topic whose removal is long ago: the partitions go on, and the device is not among them.
      let store = try place.open()
      let later = Self.start + 12 * 3600 + 1
      try place.feed(store, at: later)
      #expect(place.count("kept") == 4, "everything was read again")
      let soon = Self.start + 24 * 3600
      try place.feed(place.open(), at: soon)
      #expect(place.count("kept") == 4)
    }
  }

  @Test("while the brokers are away the view grows old, and it is young again when they are back")
  func away() async throws {
    try await Self.onThread {
      let place = try ViewPlace()
      try place.write([("d-1", Self.json("d-1"))])
      let store = try place.open()
      try place.feed(store, at: Self.start)
      let now = Mutex(Self.start)
      let feed = DeviceFeed(
        store, topic: Self.topic, kafka: ["bootstrap.servers": place.broker.bootstrapServers, "group.id": "view"],
        metrics: place.metrics, logger: Self.silent, now: { now.withLock { $0 } })
      var (turns, isDown) = (0, false)
      try feed.run {
        turns += 1
        do {
          if turns == 2 {
            try place.broker.setBrokerDown()
            now.withLock { $0 += 100 }
            isDown = true
          }
          if turns == 30 {
            #expect(store.age(at: now.withLock { $0 }) == 100)
            try place.broker.setBrokerUp()
            isDown = false
          }
        } catch { Issue.record("\(error)") }
        return turns < 30 || isDown || store.age(at: now.withLock { $0 }) != 0
      }
      #expect(try store.find("d-1") != nil)
    }
  }

  @Test("the newest looks and fetches of a device are kept, in order, until it is forgotten")
  func signals() async throws {
    try await Self.onThread {
      let place = try ViewPlace()
      try place.broker.createTopic("rouse.signals", partitions: 2)
      try place.write([("d-1", Self.json("d-1"))])
      let store = try place.open()
      func read(_ count: Double) throws {
        let feed = SignalFeed(
          store, topic: "rouse.signals",
          kafka: ["bootstrap.servers": place.broker.bootstrapServers, "group.id": "view"],
          metrics: place.metrics, logger: Self.silent, now: { Self.start })
        try feed.run { place.metrics.signals.total < count }
      }
      func send(_ device: String, _ type: String, _ time: String, _ data: String = "{}") throws {
        let json =
          #"{"specversion":"1.0","id":"1","source":"/a","type":"rouse.signal.\#(type)","subject":"\#(device)","time":"\#(time)","data":\#(data)}"#
        let producer = try KafkaProducer(["bootstrap.servers": place.broker.bootstrapServers])
        try producer.send(KafkaRecord(topic: "rouse.signals", key: Array(device.utf8), value: Array(json.utf8)))
        try producer.flush(timeout: .seconds(60))
      }
      let reader = DeviceListeners(path: place.path)
      func kinds(from: Timestamp? = nil, to: Timestamp? = nil) throws -> [Signal.Kind] {
        try reader.signals(of: "d-1", from: from, to: to).map(\.kind)
      }
      // Before the view is full any device may still come.
      try send("d-1", "widget.fetched", "2026-11-22T12:00:00Z", #"{"instance":"w"}"#)
      try send("d-9", "app.foregrounded", "2026-11-22T12:00:00Z")
      try read(2)
      #expect(try kinds() == [.widgetFetched(instance: "w")])
      #expect(try reader.signals(of: "d-9", from: nil, to: nil).count == 1)
      try place.feed(store, at: Self.start)
      #expect(try reader.signals(of: "d-9", from: nil, to: nil).isEmpty, "it is not registered, so nothing of it stays")
      try send("d-1", "app.foregrounded", "2026-11-22T12:00:05Z")
      try send("d-1", "app.backgrounded", "2026-11-22T12:00:02Z")
      try send("d-1", "widget.viewed", "2026-11-22T12:00:03Z")
      try send("d-1", "activity.ended", "2026-11-22T12:00:04Z", #"{"instance":"a"}"#)
      try send("d-8", "app.foregrounded", "2026-11-22T12:00:04Z")
      try send("d-1", "app.exploded", "2026-11-22T12:00:04Z")
      try read(8)
      #expect(
        try kinds() == [
          .appForegrounded, .widgetViewed(instance: nil), .appBackgrounded, .widgetFetched(instance: "w"),
        ])
      let start = try #require(Timestamp(rfc3339: "2026-11-22T12:00:02Z"))
      #expect(try kinds(from: start, to: start + .seconds(3)) == [.widgetViewed(instance: nil), .appBackgrounded])
      for (outcome, count) in [("kept", 5), ("other", 1), ("unknown", 1), ("refused", 1)] {
        #expect(place.metrics.signals.value([outcome]) == Double(count), "\(outcome)")
      }
      for n in 10..<70 { try send("d-1", "app.foregrounded", "2026-11-22T13:00:\(n % 60 < 10 ? "0" : "")\(n % 60)Z") }
      try read(68)
      #expect(try kinds().count == DeviceStore.signalsMax)
      // Equal times do not keep more, whatever the instances are called.
      for n in 0..<60 { try send("d-1", "widget.viewed", "2026-11-22T14:00:00Z", #"{"instance":"w\#(n)"}"#) }
      try read(128)
      let rows = try DatabaseQueue(path: place.path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM signal") }
      #expect(rows == DeviceStore.signalsMax)
      try place.write([("d-1", nil)])
      try place.feed(store, at: Self.start + 1)
      #expect(try kinds() == [])
    }
  }

  @Test("the file is for its owner alone, and another file is left alone")
  func files() throws {
    let place = try ViewPlace()
    _ = try place.open()
    let attributes = try FileManager.default.attributesOfItem(atPath: place.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let other = place.folder.appending(path: "other.sqlite").path
    try DatabaseQueue(path: other).write {
      try $0.execute(sql: "CREATE TABLE precious(x); INSERT INTO precious VALUES (1)")
    }
    #expect(throws: DeviceStoreError.self) { try DeviceStore(path: other, topic: Self.topic) }
    #expect(try DatabaseQueue(path: other).read { try Int.fetchOne($0, sql: "SELECT x FROM precious") } == 1)
    let garbage = place.folder.appending(path: "garbage").path
    try Data(repeating: 7, count: 5000).write(to: URL(filePath: garbage))
    do {
      _ = try DeviceStore(path: garbage, topic: Self.topic)
      Issue.record("opened")
    } catch { #expect("\(error)".contains("remove the file; the view is made anew")) }
    do {
      _ = try DeviceStore(path: "/nowhere/devices.sqlite", topic: Self.topic)
      Issue.record("opened")
    } catch { #expect("\(error)".contains("/nowhere/devices.sqlite: ")) }
  }

  @Test("a view of another topic or version starts empty")
  func otherTopic() throws {
    let place = try ViewPlace()
    let store = try place.open()
    let device = StoredDevice(app: "a", value: [1])
    let change = DeviceStore.DeviceChange(
      device: Array("d".utf8), partition: 0, registration: (device, Timestamp(microseconds: 0)))
    _ = try store.apply([change], next: [0: 1])
    try store.isCurrent(since: Self.start, isKept: true)
    #expect(try place.open().find("d") == device)
    let other = try DeviceStore(path: place.path, topic: "other")
    #expect(try other.find("d") == nil && other.positions() == [:] && other.age(at: Self.start) == nil)
  }
}
