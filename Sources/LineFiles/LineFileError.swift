import Glibc

/// A failure with a file of lines. Reading can continue only after a line that is too long (``canContinue``).
public enum LineFileError: Error, Equatable, Sendable {
  /// A system call failed; `code` is its `errno`.
  case system(operation: Operation, path: String, code: Int32)
  /// The line has more bytes than the reader's bound. The next call of `next()` gives the line after it.
  case lineTooLong(path: String, line: Int, bytes: Int, bytesMax: Int)
  /// The file ends inside a gzip member; `position` counts bytes of the file as stored.
  case truncatedGzip(path: String, position: Int64, line: Int)
  /// zlib refuses the stream; `position` counts bytes of the file as stored.
  case corruptGzip(path: String, position: Int64, line: Int, detail: String)
  /// A file that is read whole has more bytes than the bound.
  case fileTooLong(path: String, bytesMax: Int)
  /// An output is the same file as an input or as another output; found by ``NamedPath/checkDistinct(outputs:inputs:)``.
  case sameFile(output: NamedPath, other: NamedPath, isInput: Bool)

  /// The system calls that can fail.
  public enum Operation: String, Sendable { case open, read, write, close, rename }

  /// Whether ``LineReader/next()`` may be called again after it threw this error.
  public var canContinue: Bool {
    if case .lineTooLong = self { true } else { false }
  }

  /// Whether the program that reads our output has ended (`EPIPE`). For a command line that is a normal end, not a failure.
  public var isBrokenPipe: Bool {
    if case .system(_, _, SystemCode.brokenPipe) = self { true } else { false }
  }
}

extension LineFileError: CustomStringConvertible {
  /// One lower-case sentence: the mistake, the place, and what to do.
  public var description: String {
    switch self {
    case .system(let operation, let path, let code):
      let advice = SystemCode.advice(for: code, operation: operation).map { "; \($0)" } ?? ""
      return "cannot \(operation.rawValue) \(path): \(SystemCode.text(code))\(advice)"
    case .lineTooLong(let path, let line, let bytes, let bytesMax):
      return "\(path):\(line): a line of \(bytes) bytes, expected at most \(bytesMax); it was skipped"
    case .truncatedGzip(let path, let position, let line):
      return "\(path): the gzip stream breaks off at byte \(position), after line \(line); "
        + "copy or compress the file again"
    case .corruptGzip(let path, let position, let line, let detail):
      return "\(path): not a valid gzip stream at byte \(position), after line \(line): \(detail); "
        + "copy or compress the file again"
    case .fileTooLong(let path, let bytesMax):
      return "\(path): more than \(bytesMax) bytes; name another file"
    case .sameFile(let output, let other, let isInput):
      let advice = isInput ? "an output would replace what is read" : "give each output a file of its own"
      return "\(output.name) (\(output.path)) and \(other.name) (\(other.path)) are the same file; \(advice)"
    }
  }
}

/// The `errno` values that this module distinguishes, and their texts.
private enum SystemCode {
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
