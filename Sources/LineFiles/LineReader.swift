/// Reads a file of lines as byte slices, without a `String` and with bounded memory: `.jsonl`, `.jsonl.gz` (known by
/// its first bytes, not its name; several members in a row are one stream) and `-`, the standard input, alike.
///
///     var reader = try LineReader(path: "events.jsonl.gz")
///     while let line = try reader.next() { … }
///
/// A line ends at `\n` or at the end of the file; one `\r` before it is dropped. Empty lines are given as they are.
public struct LineReader: ~Copyable {
  /// 4 MiB: far above any record that the project accepts, so what is longer is no record.
  public static let defaultLineBytesMax = 4 << 20
  /// Grows for longer lines, up to twice the bound on lines.
  private static let initialBufferBytes = 256 << 10

  /// The path as people should read it: `standard input` for `-`.
  public let path: String
  /// The number of the line that `next()` gave or refused last, from 1; 0 before the first.
  public private(set) var lineNumber = 0

  private let lineBytesMax: Int
  private var source: ByteSource
  private var buffer: [UInt8]
  /// `buffer[start..<end]` is read and not yet given; up to `scanned` it holds no newline.
  private var start = 0
  private var scanned = 0
  private var end = 0
  /// Bytes already thrown away of a line that is too long.
  private var dropped = 0
  private var reachedEnd = false

  /// Opens the file, or the standard input for `-`, and looks at its first bytes.
  public init(path: String, lineBytesMax: Int = LineReader.defaultLineBytesMax) throws(LineFileError) {
    precondition(lineBytesMax > 0, "lineBytesMax must be positive")
    source = try ByteSource(path: path)
    self.path = source.path
    self.lineBytesMax = lineBytesMax
    buffer = [UInt8](repeating: 0, count: min(Self.initialBufferBytes, lineBytesMax + 1))
  }

  /// Bytes of the file, as stored, that have been read so far.
  public var bytesConsumed: Int64 { source.bytesConsumed }

  /// Bytes of the file as stored; nil where that is not known (a pipe, a terminal).
  public var bytesTotal: Int64? { source.bytesTotal }

  /// The next line without its end, or nil after the last. The slice shares the reader's buffer: let go of it before
  /// the next call, or that call copies the buffer. Of a stream that breaks off, the unfinished line is not given.
  public mutating func next() throws(LineFileError) -> ArraySlice<UInt8>? {
    while true {
      if let newline = firstNewline(in: buffer, from: scanned, to: end) {
        return try take(upTo: newline, resumeAt: newline + 1)
      }
      scanned = end
      if dropped > 0 || end - start > lineBytesMax + 1 {
        dropped += end - start
        start = end
      }
      if try fill() { continue }
      if start == end && dropped == 0 { return nil }
      return try take(upTo: end, resumeAt: end)
    }
  }

  /// Ends the line before `lineEnd`: gives it, or throws that it is too long.
  private mutating func take(upTo lineEnd: Int, resumeAt next: Int) throws(LineFileError) -> ArraySlice<UInt8> {
    let lineStart = start
    var last = lineEnd
    if last > lineStart && buffer[last - 1] == UInt8(ascii: "\r") { last -= 1 }
    let bytes = dropped + last - lineStart
    start = next
    scanned = next
    dropped = 0
    lineNumber += 1
    if bytes > lineBytesMax {
      throw .lineTooLong(path: path, line: lineNumber, bytes: bytes, bytesMax: lineBytesMax)
    }
    return buffer[lineStart..<last]
  }

  /// Reads more behind what is there, after making room; false at the end of the file.
  private mutating func fill() throws(LineFileError) -> Bool {
    if reachedEnd { return false }
    if start > 0 {
      if start < end { moveDown(&buffer, from: start, to: end) }
      end -= start
      scanned -= start
      start = 0
    }
    if end == buffer.count {
      let room = max(1, min(buffer.count, lineBytesMax + 2))
      buffer.append(contentsOf: repeatElement(0, count: room))
    }
    let count = try source.read(into: &buffer, from: end, line: lineNumber)
    end += count
    reachedEnd = count == 0
    return count > 0
  }
}
