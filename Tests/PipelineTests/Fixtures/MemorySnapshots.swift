@testable import Pipeline

/// Snapshots in memory, which a test can damage.
final class MemorySnapshots: SnapshotStore {
  var files: [String: [UInt8]] = [:]

  func create(_ name: String) throws(SnapshotError) -> any SnapshotSink { Sink(store: self, name: name) }
  func open(_ name: String) throws(SnapshotError) -> (any SnapshotSource)? { files[name].map(Source.init) }

  private final class Sink: SnapshotSink {
    private let store: MemorySnapshots
    private let name: String
    private var bytes: [UInt8] = []

    init(store: MemorySnapshots, name: String) {
      self.store = store
      self.name = name
    }

    func write(_ more: [UInt8]) throws(SnapshotError) { bytes += more }
    func commit() throws(SnapshotError) { store.files[name] = bytes }
    func discard() { bytes = [] }
  }

  private final class Source: SnapshotSource {
    private var rest: ArraySlice<UInt8>

    let bytes: Int

    init(_ bytes: [UInt8]) {
      self.bytes = bytes.count
      rest = bytes[...]
    }

    func read(_ count: Int) throws(SnapshotError) -> [UInt8] {
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
  }
}
