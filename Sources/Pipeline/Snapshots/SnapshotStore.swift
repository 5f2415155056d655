/// A local store of snapshots, by name. Losing a snapshot costs time only: its records are in `rouse.state` too.
protocol SnapshotStore: AnyObject {
  /// Begins a snapshot. An earlier one of that name stays until `commit`.
  ///
  /// - Parameter name: The name of the snapshot.
  /// - Throws: `SnapshotError` if it cannot be written.
  func create(_ name: String) throws(SnapshotError) -> any SnapshotSink

  /// Opens a snapshot.
  ///
  /// - Parameter name: The name of the snapshot.
  /// - Returns: The snapshot, to be read; nil if there is none of that name.
  /// - Throws: `SnapshotError` if it cannot be read.
  func open(_ name: String) throws(SnapshotError) -> (any SnapshotSource)?
}

/// A snapshot that is being written.
protocol SnapshotSink: AnyObject {
  /// Appends bytes.
  ///
  /// - Throws: `SnapshotError` if they cannot be written.
  func write(_ bytes: [UInt8]) throws(SnapshotError)
  /// Replaces the earlier snapshot of that name by this one, as a whole.
  ///
  /// - Throws: `SnapshotError`; the earlier one then stays.
  func commit() throws(SnapshotError)
  /// Discards the snapshot; the earlier one stays.
  func discard()
}

/// A snapshot that is being read.
protocol SnapshotSource: AnyObject {
  /// The size of the whole snapshot, in bytes.
  var bytes: Int { get }
  /// Reads the next bytes.
  ///
  /// - Parameter count: The most bytes to read.
  /// - Returns: At most `count` bytes; empty at the end.
  /// - Throws: `SnapshotError` if they cannot be read.
  func read(_ count: Int) throws(SnapshotError) -> [UInt8]
}

/// A snapshot that cannot be written or read.
struct SnapshotError: Error, Equatable, CustomStringConvertible {
  /// A sentence that says what failed, where and why.
  var description: String
}
