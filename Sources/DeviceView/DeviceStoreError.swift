import GRDB

/// The reason why the file of a view could not be used. A failed change leaves the file as it was.
public struct DeviceStoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The path, the reason and what to do, in lower case.
  public let description: String

  /// Makes an error with its words.
  init(_ path: String, _ words: String) { description = "\(path): \(words)" }

  /// Turns any error of SQLite into one of a view.
  init(_ path: String, _ error: any Error) {
    switch error {
    case let known as DeviceStoreError: self = known
    case let error as DatabaseError:
      let words = error.message ?? error.resultCode.description
      let advice =
        switch error.resultCode {
        case .SQLITE_FULL: "make room on the disk"
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: "remove the file; the view is made anew from the topic"
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY: "the folder must exist, and its files be writable"
        default: "see the reason"
        }
      self.init(path, "\(words); \(advice)")
    default: self.init(path, "\(error)")
    }
  }
}
