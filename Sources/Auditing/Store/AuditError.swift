import Domain
import GRDB

/// Why the audit store could not do what was asked, and what to do about it. A failed write leaves the file as it was:
/// the caller still has its batch.
public struct AuditError: Error, Equatable, Sendable {
  /// What kind of trouble it is.
  public enum Kind: String, Equatable, Sendable {
    /// The file is missing, its folder is, or it may not be read.
    case cannotOpen
    /// A newer program wrote the file.
    case newerVersion
    /// The file is a database of something else.
    case notAStore
    /// The disk, or the size the store was given, is full.
    case diskFull
    /// The disk failed to read or write.
    case diskFailure
    /// The file is damaged, or no database.
    case corrupt
    /// Another process holds the file for longer than the busy timeout.
    case locked
    /// The file, or this way of opening it, does not allow writing.
    case readOnly
    /// SQLite refused for a reason of its own.
    case other
  }

  public var kind: Kind
  /// The file.
  public var path: String
  /// What was wrong.
  public var reason: String
  /// What to do.
  public var advice: String

  /// Whether the same call may work later without anybody changing the store: the caller keeps the batch and tries again.
  public var isRetriable: Bool {
    switch kind {
    case .diskFull, .diskFailure, .locked: true
    case .cannotOpen, .newerVersion, .notAStore, .corrupt, .readOnly, .other: false
    }
  }
}

extension AuditError: CustomStringConvertible {
  public var description: String { "audit store \(path): \(reason); \(advice)" }
}

extension AuditError {
  /// The meaning of what SQLite said about a file.
  init(_ error: any Error, path: String) {
    if let known = error as? AuditError {
      self = known
      return
    }
    if let reason = (error as? StoredValueError)?.reason ?? (error as? BinaryError).map({ "holds a row where \($0)" }) {
      self.init(
        kind: .corrupt, path: path, reason: reason,
        advice: "use the version that wrote it, or move it away; a new store can be filled again from the topics")
      return
    }
    guard let error = error as? DatabaseError else {
      self.init(kind: .other, path: path, reason: "\(error)", advice: "see the reason")
      return
    }
    let said = error.message ?? error.resultCode.description
    switch error.resultCode {
    case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
      self.init(
        kind: .cannotOpen, path: path, reason: "cannot be opened (\(said))",
        advice: "check that its folder exists and that this user may read and write there")
    case .SQLITE_FULL:
      self.init(
        kind: .diskFull, path: path, reason: "no room left (\(said))",
        advice: "free disk space or shorten the retention; nothing was stored of this batch, it can be stored again")
    case .SQLITE_IOERR:
      self.init(
        kind: .diskFailure, path: path, reason: "the disk failed (\(said))",
        advice: "check the disk and its free space; nothing was stored of this batch, it can be stored again")
    case .SQLITE_CORRUPT, .SQLITE_NOTADB:
      self.init(
        kind: .corrupt, path: path, reason: "is damaged or not a database (\(said))",
        advice: "move it away; a new store can be filled again from the topics")
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self.init(
        kind: .locked, path: path, reason: "another process is writing (\(said))",
        advice: "let one process write to a store; try again")
    case .SQLITE_READONLY:
      self.init(
        kind: .readOnly, path: path, reason: "may not be written (\(said))",
        advice: "open it for writing, or give this user write access to the file and its folder")
    default:
      self.init(kind: .other, path: path, reason: said, advice: "report this with the version of the program")
    }
  }
}
