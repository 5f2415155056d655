import KafkaClient

@testable import Pipeline

/// The clocks of one process. Its wall clock differs from the broker's, and jumps.
final class SimulatedClock: StageClock {
  private let process: SimulatedProcess
  /// The difference from the broker's wall clock, in µs.
  var skew: Int64 = 0

  init(process: SimulatedProcess) { self.process = process }

  var elapsed: Duration { .microseconds(process.broker.time.now) }
  var wallMicroseconds: Int64 { process.broker.time.brokerMilliseconds * 1000 + skew }

  func sleep(_ duration: Duration) {
    // A process that crashes while it waits gets the error at its next call.
    do throws(KafkaError) {
      try process.perform(.sleep) { () throws(KafkaError) in process.broker.pass(duration.microseconds) }
    } catch {}
  }
}

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
    private var bytes: ArraySlice<UInt8>
    private let store: SimulatedSnapshots

    init(_ bytes: [UInt8], store: SimulatedSnapshots) {
      self.bytes = bytes[...]
      self.store = store
    }

    func read(_ count: Int) throws(SnapshotError) -> [UInt8] {
      try store.call(.snapshotRead)
      defer { bytes = bytes.dropFirst(count) }
      return Array(bytes.prefix(count))
    }
  }
}

/// The disk of a machine. It can lose, cut off and corrupt files.
final class SimulatedDisk {
  fileprivate(set) var files: [String: [UInt8]] = [:]
  private(set) var writes = 0

  fileprivate func write(_ name: String, _ bytes: [UInt8]) {
    files[name] = bytes
    writes += 1
  }

  enum Damage: String, CaseIterable { case missing, torn, corrupted }

  /// Damages one file.
  ///
  /// - Returns: Whether there was a file.
  func damage(_ damage: Damage, below: (Int) -> Int) -> Bool {
    let names = files.keys.sorted()
    guard !names.isEmpty else { return false }
    let name = names[below(names.count)]
    switch damage {
    case .missing: files[name] = nil
    case .torn: files[name] = Array((files[name] ?? []).prefix(below((files[name]?.count ?? 0) + 1)))
    case .corrupted:
      let count = files[name]?.count ?? 0
      guard count > 0 else { return false }
      files[name]?[below(count)] ^= UInt8(1 << below(8))
    }
    return true
  }
}
