/// Writes lines to a file, `-` (the standard output) or a `.gz` file, through a buffer of 256 KiB.
///
/// A regular file is written under a temporary name beside the final one and renamed by `close()`, so a half file never
/// stands under the final name; `abort()`, or letting go of the writer without `close()`, removes it. Devices and pipes
/// are written directly. Safe against a crash of the process, not against loss of power: nothing is synced.
///
/// A closed pipe is reported as an error only where the process ignores `SIGPIPE`; otherwise it ends the process.
public struct LineWriter: ~Copyable {
  /// Bytes gathered before a system call.
  public static let bufferBytes = 256 << 10

  /// The final path as people should read it: `standard output` for `-`.
  public var path: String { sink.path }
  /// Bytes appended so far, before compression.
  public var bytesAppended: Int64 { bytesFlushed + Int64(buffer.count) }

  private var sink: ByteSink
  private var buffer: [UInt8] = []
  private var bytesFlushed: Int64 = 0
  /// After the first failure nothing is written any more and each call throws it again: a file with a hole must not get
  /// the final name.
  private var failure: LineFileError?

  /// Opens the output; `.gz` at the end of the path compresses (level 1, no time in the header: same lines, same bytes).
  public init(path: String) throws(LineFileError) {
    sink = try ByteSink(path: path)
    buffer.reserveCapacity(Self.bufferBytes + 4096)
  }

  /// Appends bytes as they are.
  public mutating func append(_ bytes: ArraySlice<UInt8>) throws(LineFileError) {
    buffer.append(contentsOf: bytes)
    try flushIfFull()
  }

  /// Appends bytes as they are.
  public mutating func append(_ bytes: [UInt8]) throws(LineFileError) {
    buffer.append(contentsOf: bytes)
    try flushIfFull()
  }

  /// Appends text as UTF-8.
  public mutating func append(_ text: String) throws(LineFileError) {
    buffer.append(contentsOf: text.utf8)
    try flushIfFull()
  }

  /// Ends the line.
  public mutating func endLine() throws(LineFileError) {
    buffer.append(UInt8(ascii: "\n"))
    try flushIfFull()
  }

  /// Lets `write` append one line to the buffer itself, which saves a copy, and ends the line. `write` may only append.
  public mutating func appendLine(_ write: (inout [UInt8]) -> Void) throws(LineFileError) {
    write(&buffer)
    try endLine()
  }

  /// Hands what is gathered to the system, or to the compressor. Not to be called after `close()` or `abort()`.
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

  /// Writes the rest and gives the file its final name. Without effect after the first time, and after `abort()`.
  public mutating func close() throws(LineFileError) {
    guard sink.isOpen || failure != nil else { return }
    try flush()
    do throws(LineFileError) { try sink.finish() } catch { throw fail(error) }
  }

  /// Gives up: nothing more is written and the temporary file is removed. Without effect after `close()`.
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
