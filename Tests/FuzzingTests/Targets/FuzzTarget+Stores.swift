import Domain
import KafkaClient
import Planning
import Policies

@testable import Pipeline

extension FuzzTarget {
  /// Readers of what planners keep.
  static let storeTargets = [state, position, snapshot]

  /// Records of `rouse.state`. Chunks are key and value in turn. State that is accepted has to plan on.
  private static let state = FuzzTarget(
    name: "state", form: .frames, cases: 800, seeds: { try states().map(FuzzFrames.join) },
    body: { input in
      let chunks = FuzzFrames.split(input)
      var restore = PlannerRestore(partition: 0, partitionCount: 1)
      let processor: PartitionProcessor
      do {
        for place in stride(from: 0, to: chunks.count - 1, by: 2) {
          try restore.add(key: chunks[place], value: chunks[place + 1].isEmpty ? nil : chunks[place + 1])
        }
        processor = try PartitionProcessor(restoring: restore, isNew: false, initialPolicy: .none)
      } catch is BinaryError {
        return
      } catch is StateRecordError { return }
      var batch = OutputBatch()
      for record in try FuzzTraffic.logRecords() {
        let offset = processor.position.nextOffset
        guard offset < Int64.max, case .begun = processor.begin(record, offset: offset, timestamp: FuzzPipeline.noon)
        else { continue }
        var steps = 0
        while !processor.step(into: &batch, decisionsMax: 500).isDone {
          steps += 1
          try FuzzFinding.unless(steps < 1000, "a record is not done after 500,000 decisions")
        }
        processor.takeState(into: &batch)
        batch.removeAll()
      }
    })

  /// The position of a partition, which is written with its state.
  private static let position = FuzzTarget(
    name: "position", form: .bytes, cases: 20_000,
    seeds: {
      var position = PlannerPosition()
      let empty = position.encoded()
      _ = position.note(Origin(topic: "events", partition: 3, offset: 17))
      _ = position.note(Origin(topic: "rouse.devices", partition: 0, offset: 5))
      position.nextOffset = 9
      position.birth = FuzzPipeline.noon
      position.cursor = RecordCursor(nextOrdinal: 4, nextDevice: 2, standing: 1)
      return [empty, position.encoded()]
    },
    body: { input in
      let position: PlannerPosition
      do throws(BinaryError) { position = try PlannerPosition(bytes: input) } catch { return }
      try FuzzFinding.unless(
        try PlannerPosition(bytes: position.encoded()) == position, "the position changed when written and read")
    })

  /// Local snapshots. The checksums of the input's blocks are put right, because damage that they find is the easy kind.
  private static let snapshot = FuzzTarget(
    name: "snapshot", form: .bytes, cases: 4000,
    seeds: {
      try states().map { state in
        let header = SnapshotHeader(
          state: .init(topic: "rouse.state", partition: 0), stateOffset: 12, begunAt: FuzzPipeline.noon, birth: 5,
          sizes: PlannerSizes(devices: 2, instances: 4, interests: 4, keys: 4, textBytes: 100))
        let sink = MemorySnapshot()
        let writer = try SnapshotWriter(sink, header)
        for place in stride(from: 0, to: state.count - 1, by: 2) {
          try writer.add(key: state[place][...], value: state[place + 1][...])
        }
        try writer.commit()
        return sink.contents
      }
    },
    body: { input in
      do throws(SnapshotError) {
        let reader = try SnapshotReader(MemorySnapshot(withChecksums(input)))
        try reader.header.check(state: reader.header.state, end: .max, wallMicroseconds: FuzzPipeline.noon)
        var restore = PlannerRestore(partition: 0, partitionCount: 1)
        restore.reserve(reader.header.sizes)
        var goesOn = true
        while goesOn {
          goesOn = try reader.nextBlock { (key, value, block) throws(SnapshotError) in
            do throws(BinaryError) { try restore.add(key: key, value: value, of: block) } catch {
              throw SnapshotError(description: "\(error)")
            }
          }
        }
      } catch { return }
    })

  /// Writes the checksum of each block as far as the lengths lead.
  private static func withChecksums(_ input: [UInt8]) -> [UInt8] {
    var bytes = input
    var place = 0
    while place + 8 < bytes.count {
      let length = (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << ($1 * 8) }
      guard length > 0, length <= bytes.count - place - 8 else { break }
      let checksum = SnapshotBlock.checksum(Array(bytes[place + 8..<place + 8 + length]))
      for byte in 0..<4 { bytes[place + 4 + byte] = UInt8(truncatingIfNeeded: checksum >> (UInt32(byte) * 8)) }
      place += 8 + length
    }
    return bytes
  }

  /// The state of the story at its middle and at its end, as keys and values in turn.
  private static func states() throws -> [[[UInt8]]] {
    let records = try FuzzTraffic.logRecords()
    return try [records.count / 2, records.count].map { count in
      var pipeline = try FuzzPipeline()
      for (index, record) in records.prefix(count).enumerated() {
        try pipeline.plan(record, at: FuzzPipeline.noon + Int64(index) * 60_000_000)
      }
      return pipeline.state.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { [$0.key, $0.value] }
    }
  }
}

/// A snapshot in memory.
private final class MemorySnapshot: SnapshotSink, SnapshotSource {
  private(set) var contents: [UInt8]
  private var next = 0
  var bytes: Int { contents.count }

  init(_ bytes: [UInt8] = []) { contents = bytes }

  func write(_ more: [UInt8]) throws(SnapshotError) { contents += more }
  func commit() throws(SnapshotError) {}
  func discard() {}

  func read(_ count: Int) throws(SnapshotError) -> [UInt8] {
    defer { next = min(next + count, contents.count) }
    return Array(contents[next..<min(next + count, contents.count)])
  }
}
