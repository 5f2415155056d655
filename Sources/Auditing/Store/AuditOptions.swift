public import Domain

/// Settings for opening a store.
public struct AuditOptions: Equatable, Sendable {
  /// `read` never changes the file and needs one that is up to date. `write` makes the file, or brings it up to date.
  public enum Access: Equatable, Sendable { case read, write }

  /// Whether the store may be written.
  public var access: Access
  /// The time to wait for another writer. After it the call fails as `AuditError.Kind.locked`.
  public var busyTimeout: TimeSpan
  /// The memory in which pages of the file are cached, in bytes.
  public var cacheBytes: Int
  /// The limit on the size of the file in bytes; nil: the disk is the limit. A batch that does not fit is refused as
  /// `AuditError.Kind.diskFull`.
  public var fileBytesMax: Int64?

  /// - Parameters:
  ///   - access: whether the store will be written.
  ///   - busyTimeout: the time to wait for another writer.
  ///   - cacheBytes: bytes of memory for pages of the file; 64 MiB by default.
  ///   - fileBytesMax: the limit on the size of the file in bytes; nil: none.
  public init(
    access: Access = .write, busyTimeout: TimeSpan = .seconds(5), cacheBytes: Int = 64 << 20, fileBytesMax: Int64? = nil
  ) {
    self.access = access
    self.busyTimeout = busyTimeout
    self.cacheBytes = cacheBytes
    self.fileBytesMax = fileBytesMax
  }
}
