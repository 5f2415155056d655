import Glibc

/// The `errno` values that this module distinguishes, and their texts.
enum SystemCode {
  static let brokenPipe = EPIPE
  static let noRoom = [ENOSPC, EDQUOT, EFBIG]

  /// The system's text for a code, in lower case.
  static func text(_ code: Int32) -> String {
    // glibc's `strerror` answers a static text for known codes and a thread-local one for others.
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    let words = unsafe String(cString: text)
    return words.prefix(1).lowercased() + words.dropFirst()
  }

  /// Advice to a person about a code; `nil` if there is none.
  static func advice(for code: Int32, operation: LineFileError.Operation) -> String? {
    switch code {
    case ENOENT: operation == .open ? "check the path: a relative one counts from the working directory" : nil
    case EACCES, EPERM, EROFS: "use a path that this user may \(operation == .read ? "read" : "use")"
    case EISDIR: "name a file, not a folder"
    case EMFILE, ENFILE: "raise the limit on open files (ulimit -n)"
    case EPIPE: "the program that was reading has ended"
    case _ where noRoom.contains(code): "free some space or write somewhere else; no half file is left"
    default: nil
    }
  }
}
