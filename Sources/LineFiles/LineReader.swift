/// Reads a file of lines as slices of bytes, with bounded memory. Plain files, gzip files and `-`, the standard input, are read
/// alike. Gzip is recognized by its first bytes, not by the file's name; several gzip members in a row are one stream.
///
///     var reader = try LineReader(path: "events.jsonl.gz")
///     while let line = try reader.next() { … }
///
/// A byte order mark (U+FEFF) at the beginning is dropped. A line ends at `\n` or at the end of the file; one `\r` before that
/// is dropped. Empty lines are returned as empty slices.
public struct LineReader: ~Copyable {
  /// The bytes of one line of a file, far above any record that is accepted.
  /// - Beyond: the line is counted as refused, and the next one is read.
  public static let defaultLineBytesMax = 4 << 20
  /// The first size of the buffer, which grows for longer lines up to twice the bound on lines.
  private static let initialBufferBytes = 256 << 10

  /// The path for messages to people: `standard input` for `-`.
  public let path: String
  /// The number of the line that ``next()`` returned or refused last, from 1; 0 before the first.
  public private(set) var lineNumber = 0

  /// U+FEFF as UTF-8.
  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

  private let lineBytesMax: Int
  private var source: ByteSource
  private var buffer: [UInt8]
  /// The bytes `buffer[start..<end]` are read and not yet returned; before `scanned` they hold no newline.
  private var start = 0
  private var scanned = 0
  private var end = 0
  /// The number of bytes already discarded of a line that is too long.
  private var dropped = 0
  private var reachedEnd = false

  /// Opens a file and reads its first bytes.
  /// - Parameters:
  ///   - path: The file; `-` is the standard input.
  ///   - lineBytesMax: The largest number of bytes of a line, without its end; at least 1.
  /// - Throws: ``LineFileError/system(operation:path:code:)`` if the file cannot be opened or read.
  public init(path: String, lineBytesMax: Int = LineReader.defaultLineBytesMax) throws(LineFileError) {
    precondition(lineBytesMax > 0, "lineBytesMax must be positive")
    source = try ByteSource(path: path)
    self.path = source.path
    self.lineBytesMax = lineBytesMax
    buffer = [UInt8](repeating: 0, count: min(Self.initialBufferBytes, lineBytesMax + 1))
  }

  /// The number of bytes of the file, as stored, that have been read so far.
  public var bytesConsumed: Int64 { source.bytesConsumed }

  /// The number of bytes of the file as stored; `nil` if it is not known (a pipe, a terminal).
  public var bytesTotal: Int64? { source.bytesTotal }

  /// Reads the next line.
  ///
  /// The slice shares the reader's buffer. If it is still referenced at the next call, that call copies the buffer.
  /// - Returns: The line without its end; `nil` behind the last one. The unfinished last line of a truncated gzip stream is not
  ///   returned.
  /// - Throws: A ``LineFileError``. After ``LineFileError/lineTooLong(path:line:bytes:bytesMax:)`` the next call returns the line
  ///   behind the long one.
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

  /// Returns the line that ends before `lineEnd`, or throws because it is too long.
  private mutating func take(upTo lineEnd: Int, resumeAt next: Int) throws(LineFileError) -> ArraySlice<UInt8> {
    var lineStart = start
    var last = lineEnd
    // Editors of some systems begin a text with a byte order mark, which belongs to no line.
    if lineNumber == 0, dropped == 0, buffer[start..<lineEnd].starts(with: Self.byteOrderMark) { lineStart += 3 }
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

  /// Makes room and reads more bytes into the buffer; `false` at the end of the file.
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
