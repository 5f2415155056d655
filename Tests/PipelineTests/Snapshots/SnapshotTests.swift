import Domain
import Foundation
import KafkaClient
import Planning
import Testing

@testable import Installation
@testable import Pipeline

@Suite("local snapshots")
struct SnapshotTests {
  static let state = KafkaTopicPartition(topic: "rouse.state", partition: 3)
  static let header = SnapshotHeader(
    state: state, stateOffset: 70, begunAt: 1_782_907_200_000_000, birth: 12,
    sizes: PlannerSizes(devices: 5, instances: 15, interests: 16, keys: 8, textBytes: 900))

  /// Writes a snapshot; 5000 records take several blocks.
  private func write(_ count: Int, to store: any SnapshotStore) throws {
    let writer = try SnapshotWriter(try store.create("s"), Self.header)
    for i in 0..<count {
      try writer.add(key: Array("d/device-\(i)".utf8)[...], value: Array(repeating: UInt8(i & 0xff), count: 300)[...])
    }
    try writer.commit()
  }

  private func read(_ store: any SnapshotStore) throws -> (SnapshotHeader, [[UInt8]: [UInt8]]) {
    let reader = try SnapshotReader(try #require(try store.open("s")))
    var found: [[UInt8]: [UInt8]] = [:]
    while try reader.nextBlock({ key, value, block in found[Array(block[key])] = Array(block[value]) }) {}
    return (reader.header, found)
  }

  @Test("written records are read back, from memory and from a file", arguments: [0, 1, 5000])
  func roundTrip(count: Int) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rouse-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = try SnapshotFiles(folder: folder)
    for store in [MemorySnapshots(), files] as [any SnapshotStore] {
      // Twice: the second snapshot replaces the first.
      try write(3, to: store)
      try write(count, to: store)
      let (header, records) = try read(store)
      #expect(header == Self.header)
      #expect(records.count == count)
      for (key, value) in records { #expect(value.count == 300 && key.starts(with: Array("d/device-".utf8))) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["s"])
    #expect(try files.open("t") == nil)
  }

  @Test("a half-written snapshot leaves the one before in its place")
  func givenUp() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rouse-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = try SnapshotFiles(folder: folder)
    try write(2, to: files)
    let writer = try SnapshotWriter(try files.create("s"), Self.header)
    try writer.add(key: [1], value: [2])
    writer.discard()
    #expect(try read(files).1.count == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["s"])
  }

  @Test("snapshots and their folder belong to the user alone, from the first byte")
  func permissions() throws {
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    let parent = FileManager.default.temporaryDirectory.appendingPathComponent("rouse-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: parent) }
    let folder = parent + "/snapshots"
    let files = try SnapshotFiles(folder: folder)
    #expect(try mode(folder) == 0o700)
    #expect(!files.isOpenToOthers)
    let writer = try SnapshotWriter(try files.create("s"), Self.header)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      #expect(try mode("\(folder)/\(name)") == 0o600)
    }
    try writer.commit()
    #expect(try mode("\(folder)/s") == 0o600)
    // A folder that exists keeps its permissions.
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
    let again = try SnapshotFiles(folder: folder)
    #expect(try mode(folder) == 0o755)
    #expect(again.isOpenToOthers)
    #expect(try again.open("s") != nil)
  }

  @Test("any changed, missing or added byte is found before the snapshot is used up", arguments: 1...200)
  func damage(seed: Int) throws {
    let store = MemorySnapshots()
    try write(2000, to: store)
    var bytes = try #require(store.files["s"])
    var random = SeededRandom(seed: UInt64(seed))
    switch seed % 3 {
    case 0: bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
    case 1: bytes.removeLast(1 + random.below(bytes.count - 1))
    default: bytes.append(contentsOf: repeatElement(0, count: 1 + random.below(100)))
    }
    store.files["s"] = bytes
    #expect(throws: SnapshotError.self, "seed \(seed)") { _ = try read(store) }
  }

  @Test("a snapshot of another topic, from beyond its end, or too old is refused, in words")
  func misplaced() throws {
    let now = Self.header.begunAt + 1
    try Self.header.check(state: Self.state, end: 70, wallMicroseconds: now)
    for (state, end, time) in [
      (KafkaTopicPartition(topic: "rouse.state", partition: 4), Int64(70), now), (Self.state, 69, now),
      (Self.state, 70, now + SnapshotHeader.ageMax),
    ] {
      let error = #expect(throws: SnapshotError.self) {
        try Self.header.check(state: state, end: end, wallMicroseconds: time)
      }
      #expect(error?.description.hasPrefix("it ") == true)
    }
  }

  @Test("a header with an impossible time, offset or size is refused or cut before memory is reserved")
  func absurd() throws {
    for begunAt in [Int64.min, .max] {
      var header = Self.header
      header.begunAt = begunAt
      let error = #expect(throws: SnapshotError.self) {
        try header.check(state: Self.state, end: 70, wallMicroseconds: Self.header.begunAt)
      }
      #expect(error?.description == "it says that it was begun at \(begunAt) µs since 1970, which no clock shows")
    }
    for (hours, words) in [(13, "it is 13 h old"), (-13, "it was begun 13 h from now")] as [(Int64, String)] {
      let error = #expect(throws: SnapshotError.self) {
        try Self.header.check(
          state: Self.state, end: 70, wallMicroseconds: Self.header.begunAt + hours * 3_600_000_000)
      }
      #expect(error?.description.hasPrefix(words) == true)
    }
    var header = Self.header
    header.stateOffset = -1
    #expect(throws: SnapshotError.self) {
      try header.check(state: Self.state, end: 70, wallMicroseconds: Self.header.begunAt)
    }
    header = Self.header
    header.sizes = PlannerSizes(devices: .max, instances: .max, interests: .max, keys: .max, textBytes: .max)
    let store = MemorySnapshots()
    try SnapshotWriter(try store.create("s"), header).commit()
    let length = try #require(store.files["s"]?.count)
    let reader = try SnapshotReader(try #require(try store.open("s")))
    #expect(
      reader.sizes
        == PlannerSizes(devices: length, instances: length, interests: length, keys: length, textBytes: length))
  }

  @Test("a named pipe, a folder or a device in the place of a snapshot is refused at once")
  func noFile() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rouse-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = try SnapshotFiles(folder: folder)
    // POSIX: the path is lent for the call.
    let code = unsafe mkfifo("\(folder)/pipe", 0o600)
    try #require(code == 0)
    try FileManager.default.createDirectory(atPath: "\(folder)/folder", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: "\(folder)/device", withDestinationPath: "/dev/zero")
    for name in ["pipe", "folder", "device"] {
      let error = #expect(throws: SnapshotError.self, "\(name)") { try files.open(name) }
      #expect(error?.description.contains("expected a regular file") == true)
    }
  }

  @Test("a snapshot of another format version is left aside, in words")
  func otherVersion() {
    var head = Self.header.encoded()
    head[SnapshotHeader.magic.count] = 1
    let error = #expect(throws: SnapshotError.self) { try SnapshotHeader(bytes: head) }
    #expect(error?.description.contains("expected format version 2, not 1") == true)
  }

  @Test("a restart reads the snapshot and the records after it, and decides the same as without a snapshot")
  func restart() throws {
    let fixture = try PipelineFixture()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rouse-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    fixture.settings.planner.snapshotFolder = folder
    var done = try fixture.run(
      fixture.registering(6), fixture.phase(.decisions, plus: 6) { try fixture.delay(10, id: "e1", after: 60) })
    #expect(done)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(names == (0...1).map { "\(fixture.settings.topics.state)-\($0).snapshot" })
    let readBefore = fixture.counters[.snapshotRecordsRestored]
    done = try fixture.run(fixture.phase(.decisions, plus: 6) { try fixture.delay(40, id: "e2", after: 200) })
    #expect(done)
    #expect(fixture.counters[.snapshotRecordsRestored] > readBefore)
    #expect(fixture.counters[.snapshotsDiscarded] == 0)
    // The snapshots are damaged: the state is read from the topic.
    for name in names {
      let path = "\(folder)/\(name)"
      var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
      bytes[bytes.count / 2] ^= 1
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
    done = try fixture.run(fixture.phase(.decisions, plus: 6) { try fixture.delay(70, id: "e3", after: 400) })
    #expect(done)
    // On a busy machine the group may hand a partition over again, which reads its snapshot again.
    #expect(fixture.counters[.snapshotsDiscarded] >= 2)
    let commands = try fixture.commands().values
    #expect(commands.count == 18)
    // Three tokens a day, each spent once.
    for device in 0..<6 {
      let left = commands.filter { $0.device == "d\(device)" }.compactMap(\.charged.first?.left).sorted()
      #expect(left == [0, 1, 2])
    }
  }
}
