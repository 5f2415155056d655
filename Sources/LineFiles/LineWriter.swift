/// Writes lines through a buffer of 256 KiB to a plain file, to a compressed file (`.gz`) or to `-`, the standard output.
///
/// A regular file is written under a temporary name in the same folder. ``close()`` renames it, so that the final name
/// never belongs to a half file. ``abort()``, or releasing the writer without ``close()``, removes the temporary file.
/// Devices and pipes are written directly. A crash of the process leaves the old file intact. A loss of power may not:
/// nothing is synced.
///
/// Writing to a closed pipe is an error only if the process ignores `SIGPIPE`; otherwise the signal ends the process.
public struct LineWriter: ~Copyable {
  /// The number of bytes that are gathered before a system call.
  public static let bufferBytes = 256 << 10

  /// The final path for messages to people: `standard output` for `-`.
  public var path: String { sink.path }
  /// The number of bytes appended so far, before compression.
  public var bytesAppended: Int64 { bytesFlushed + Int64(buffer.count) }

  private var sink: ByteSink
  private var buffer: [UInt8] = []
  private var bytesFlushed: Int64 = 0
  /// The first failure. After it nothing more is written and each call throws it again, because a file with a gap must not get
  /// the final name.
  private var failure: LineFileError?

  /// Opens an output.
  /// - Parameters:
  ///   - path: The final path; `-` is the standard output. A path that ends in `.gz` is compressed with level 1. The gzip
  ///     header has no time and no name, so the same lines give the same bytes.
  ///   - isPrivate: Whether a new file is for its owner alone (0600) from its first byte on. Otherwise the umask decides. A file
  ///     that replaces another keeps the permissions of that one.
  /// - Throws: ``LineFileError/system(operation:path:code:)`` if the output cannot be opened.
  public init(path: String, isPrivate: Bool = false) throws(LineFileError) {
    sink = try ByteSink(path: path, isPrivate: isPrivate)
    buffer.reserveCapacity(Self.bufferBytes + 4096)
  }

  /// Appends bytes unchanged.
  /// - Throws: A ``LineFileError`` if a full buffer cannot be written, now or earlier.
  public mutating func append(_ bytes: ArraySlice<UInt8>) throws(LineFileError) {
    buffer.append(contentsOf: bytes)
    try flushIfFull()
  }

  /// Appends bytes unchanged.
  /// - Throws: A ``LineFileError`` if a full buffer cannot be written, now or earlier.
  public mutating func append(_ bytes: [UInt8]) throws(LineFileError) {
    buffer.append(contentsOf: bytes)
    try flushIfFull()
  }

  /// Appends text as UTF-8.
  /// - Throws: A ``LineFileError`` if a full buffer cannot be written, now or earlier.
  public mutating func append(_ text: String) throws(LineFileError) {
    buffer.append(contentsOf: text.utf8)
    try flushIfFull()
  }

  /// Ends the line with `\n`.
  /// - Throws: A ``LineFileError`` if a full buffer cannot be written, now or earlier.
  public mutating func endLine() throws(LineFileError) {
    buffer.append(UInt8(ascii: "\n"))
    try flushIfFull()
  }

  /// Lets a closure append one line directly to the buffer, which saves a copy, and ends the line.
  /// - Parameter write: Appends the line to the buffer, and changes nothing else in it.
  /// - Throws: A ``LineFileError`` if a full buffer cannot be written, now or earlier.
  public mutating func appendLine(_ write: (inout [UInt8]) -> Void) throws(LineFileError) {
    write(&buffer)
    try endLine()
  }

  /// Passes the gathered bytes to the system or to the compressor. Must not be called after ``close()`` or ``abort()``.
  /// - Throws: A ``LineFileError`` if they cannot be written, now or earlier.
  public mutating func flush() throws(LineFileError) {
    precondition(sink.isOpen || failure != nil, "a closed writer takes no more lines")
    bytesFlushed += Int64(buffer.count)
    defer { buffer.removeAll(keepingCapacity: true) }
    do throws(LineFileError) {
      if let failure { throw failure }
      try sink.write(&buffer)
    } catch {
      throw fail(error)
    }
  }

  /// Writes the remaining bytes and gives the file its final name. Does nothing the second time, and after ``abort()``.
  /// - Throws: A ``LineFileError``; the final name then keeps its old content.
  public mutating func close() throws(LineFileError) {
    guard sink.isOpen || failure != nil else { return }
    try flush()
    do throws(LineFileError) { try sink.finish() } catch { throw fail(error) }
  }

  /// Stops writing and removes the temporary file. Does nothing after ``close()``.
  public mutating func abort() {
    buffer.removeAll()
    failure = nil
    sink.abandon()
  }

  private mutating func fail(_ error: LineFileError) -> LineFileError {
    failure = error
    sink.abandon()
    return error
  }

  private mutating func flushIfFull() throws(LineFileError) {
    if buffer.count >= Self.bufferBytes { try flush() }
  }
}
