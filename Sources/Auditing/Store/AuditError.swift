import Domain
import GRDB

/// A failure of the audit store, with what to do about it. A failed write leaves the file as it was, so the caller can
/// store its batch again.
public struct AuditError: Error, Equatable, Sendable {
  /// The kinds of failure.
  public enum Kind: String, Equatable, Sendable {
    /// The file or its folder is missing, or the user may not read it.
    case cannotOpen
    /// A newer version of the program wrote the file.
    case newerVersion
    /// An older version of the program wrote the file, in another format.
    case olderFormat
    /// The file is a database of something else.
    case notAStore
    /// The disk is full, or the file has reached `AuditOptions.fileBytesMax`.
    case diskFull
    /// The disk failed to read or write.
    case diskFailure
    /// The file is damaged, or is no database.
    case corrupt
    /// The file was moved away or replaced while the store was open. What is at its path now can be opened.
    case replaced
    /// Something else was written over the file while the store was open.
    case overwritten
    /// Another process wrote to the file for longer than `AuditOptions.busyTimeout`.
    case locked
    /// The file may not be written, or was opened for reading only.
    case readOnly
    /// SQLite refused the content of a record, so that trying again does not help.
    case refusedContent
    /// SQLite failed for another reason.
    case other
  }

  /// The kind of failure.
  public var kind: Kind
  /// The path of the store.
  public var path: String
  /// The cause, worded to follow the words "the store": `another process is writing (…)`.
  public var reason: String
  /// The remedy, as an instruction to the operator.
  public var advice: String

  /// Whether the same call may succeed later without a change to the store. The caller keeps its batch and tries again.
  public var isRetriable: Bool {
    switch kind {
    case .diskFull, .diskFailure, .locked: true
    case .cannotOpen, .newerVersion, .olderFormat, .notAStore, .corrupt, .replaced, .overwritten, .readOnly,
      .refusedContent, .other:
      false
    }
  }
}

extension AuditError: CustomStringConvertible {
  /// The store, the cause and the remedy in one sentence.
  public var description: String { "audit store \(path): \(reason); \(advice)" }
}

extension AuditError {
  /// Turns an error of SQLite, of a stored row or of this module into a failure of a store.
  init(_ error: any Error, path: String) {
    switch error {
    case let known as AuditError: self = known
    case let damage as StoredValueError: self = .unreadable(damage.reason, path: path)
    case let damage as BinaryError: self = .unreadable("holds a row where \(damage)", path: path)
    case let refused as DatabaseError: self.init(sqlite: refused, path: path)
    default: self.init(kind: .other, path: path, reason: "\(error)", advice: "see the reason")
    }
  }

  private static func unreadable(_ reason: String, path: String) -> AuditError {
    AuditError(
      kind: .corrupt, path: path, reason: reason,
      advice: "use the version that wrote it, or move it away; a new store can be filled again from the topics")
  }

  private init(sqlite error: DatabaseError, path: String) {
    let said = error.message ?? error.resultCode.description
    let (kind, reason, advice) = Self.meaning(of: error.resultCode, said)
    self.init(kind: kind, path: path, reason: reason, advice: advice)
  }

  /// The kind, the reason and the advice for a result code.
  private static func meaning(of code: ResultCode, _ said: String) -> (Kind, String, String) {
    switch code {
    case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
      (
        .cannotOpen, "cannot be opened (\(said))",
        "check that its folder exists and that this user may read and write there"
      )
    case .SQLITE_FULL:
      (
        .diskFull, "no room left (\(said))",
        "free disk space or shorten the retention; nothing was stored of this batch, it can be stored again"
      )
    case .SQLITE_IOERR:
      (
        .diskFailure, "the disk failed (\(said))",
        "check the disk and its free space; nothing was stored of this batch, it can be stored again"
      )
    case .SQLITE_CORRUPT, .SQLITE_NOTADB:
      (
        .corrupt, "is damaged or not a database (\(said))",
        "move it away; a new store can be filled again from the topics"
      )
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      (.locked, "another process is writing (\(said))", "let one process write to a store; try again")
    case .SQLITE_READONLY:
      (
        .readOnly, "may not be written (\(said))",
        "open it for writing, or give this user write access to the file and its folder"
      )
    case .SQLITE_CONSTRAINT, .SQLITE_TOOBIG, .SQLITE_MISMATCH:
      (.refusedContent, "a record was refused (\(said))", "report this with the record and the version of the program")
    default: (.other, said, "report this with the version of the program")
    }
  }
}
