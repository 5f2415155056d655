/// A file of access records that is open from the first use on, and is opened again after it was moved away or a call has failed. Used by one
/// thread at a time.
public struct AccessFile {
  public let path: String
  /// The limits on what is kept.
  public let retention: AccessStore.RecordLimits
  private var opened: (store: AccessStore, watch: FileWatch)?

  /// Opens nothing yet.
  ///
  /// - Parameters:
  ///   - path: The path. Its folder must exist.
  ///   - retention: The limits on what is kept.
  public init(path: String, retention: AccessStore.RecordLimits) {
    self.path = path
    self.retention = retention
  }

  /// Runs a call on the records.
  ///
  /// - Parameter body: The call.
  /// - Throws: `AuditError` when the file cannot be opened, or what the call throws.
  public mutating func use<Value>(_ body: (AccessStore) throws(AuditError) -> Value) throws(AuditError) -> Value {
    // Records must not go into a file that was moved away.
    if opened?.watch.isReplaced() != false { opened = nil }
    do throws(AuditError) {
      if let store = opened?.store { return try body(store) }
      let store = try AccessStore.open(path: path, retention: retention)
      // Opening makes the file if there is none, so the watch begins behind it.
      opened = (store, FileWatch(path: path))
      return try body(store)
    } catch {
      opened = nil
      throw error
    }
  }
}
