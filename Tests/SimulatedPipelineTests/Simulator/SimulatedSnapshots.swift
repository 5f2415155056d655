import KafkaClient

@testable import Pipeline

/// Snapshots on the disk of one machine, which outlives its processes.
final class SimulatedSnapshots: SnapshotStore {
  private let disk: SimulatedDisk
  private let process: SimulatedProcess

  init(disk: SimulatedDisk, process: SimulatedProcess) {
    self.disk = disk
    self.process = process
  }

  func create(_ name: String) throws(SnapshotError) -> any SnapshotSink {
    try requireLife()
    return Sink(name: name, store: self)
  }

  func open(_ name: String) throws(SnapshotError) -> (any SnapshotSource)? {
    try call(.snapshotOpen)
    return disk.files[name].map { Source($0, store: self) }
  }

  private func requireLife() throws(SnapshotError) {
    if process.isDead { throw SnapshotError(description: "the process has crashed") }
  }

  fileprivate func call(_ call: PortCall) throws(SnapshotError) {
    do throws(KafkaError) { try process.perform(call) { () throws(KafkaError) in } } catch {
      throw SnapshotError(description: error.description)
    }
  }

  private final class Sink: SnapshotSink {
    private let name: String
    private let store: SimulatedSnapshots
    private var bytes: [UInt8] = []

    init(name: String, store: SimulatedSnapshots) {
      self.name = name
      self.store = store
    }

    func write(_ bytes: [UInt8]) throws(SnapshotError) {
      try store.call(.snapshotWrite)
      self.bytes += bytes
    }

    func commit() throws(SnapshotError) {
      try store.call(.snapshotCommit)
      store.disk.write(name, bytes)
    }

    func discard() { bytes = [] }
  }

  private final class Source: SnapshotSource {
    let bytes: Int
    private var rest: ArraySlice<UInt8>
    private let store: SimulatedSnapshots

    init(_ bytes: [UInt8], store: SimulatedSnapshots) {
      self.bytes = bytes.count
      rest = bytes[...]
      self.store = store
    }

    func read(_ count: Int) throws(SnapshotError) -> [UInt8] {
      try store.call(.snapshotRead)
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
  }
}
