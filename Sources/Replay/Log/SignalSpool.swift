import Domain
import LineFiles

/// The signals of an export, a file for each partition in the order of its log. Merging them gives the order of log time.
final class SignalSpool {
  /// The file of one partition while it is written. Lines begin with the log time in µs.
  private final class Writer {
    let path: String
    var lines: LineWriter

    init(path: String) throws(LineFileError) {
      self.path = path
      lines = try LineWriter(path: path, isPrivate: true)
    }
  }

  /// The file of one partition while it is read, and the signal at hand.
  private final class Reader {
    private var lines: LineReader
    private(set) var time = Int64.min
    private(set) var signal: ArraySlice<UInt8> = []

    init(path: String) throws(LineFileError) { lines = try LineReader(path: path) }

    /// Goes to the next signal.
    /// - Returns: Whether there is one.
    func advance() throws(LineFileError) -> Bool {
      signal = []
      guard let line = try lines.next(), let space = line.firstIndex(of: UInt8(ascii: " ")) else { return false }
      time = Int64(String(decoding: line[..<space], as: UTF8.self)) ?? time
      signal = line[(space + 1)...]
      return true
    }
  }

  private let folder: String
  private var writers: [Int32: Writer] = [:]

  /// Prepares a spool. Nothing is written yet.
  /// - Parameter folder: The folder for the files.
  init(folder: String) { self.folder = folder }

  /// Adds a signal.
  /// - Parameters:
  ///   - json: The signal as JSON.
  ///   - time: Its log time, not before that of the last signal of the partition.
  ///   - partition: The partition of the log.
  /// - Throws: `LineFileError` if it cannot be written.
  func add(_ json: [UInt8], at time: Timestamp, partition: Int32) throws(LineFileError) {
    let writer = try self.writer(of: partition)
    try writer.lines.append("\(time.microseconds) ")
    try writer.lines.append(json)
    try writer.lines.endLine()
  }

  private func writer(of partition: Int32) throws(LineFileError) -> Writer {
    if let writer = writers[partition] { return writer }
    let writer = try Writer(path: "\(folder)/signals-\(partition).jsonl")
    writers[partition] = writer
    return writer
  }

  /// Writes all signals in the order of log time; of one instant, those of the lower partition come first.
  /// - Throws: `LineFileError` if a file cannot be read or written.
  func write(to output: inout LineWriter) throws(LineFileError) {
    var readers: [Reader] = []
    for (_, writer) in writers.sorted(by: { $0.key < $1.key }) {
      try writer.lines.close()
      let reader = try Reader(path: writer.path)
      if try reader.advance() { readers.append(reader) }
    }
    // The places in `readers`, the next one last.
    var order = readers.indices.sorted { (readers[$0].time, $0) > (readers[$1].time, $1) }
    while let first = order.last {
      try output.append(readers[first].signal)
      try output.endLine()
      order.removeLast()
      guard try readers[first].advance() else { continue }
      let key = (readers[first].time, first)
      // Most often it comes next again, or soon.
      let behind = order.lastIndex { (readers[$0].time, $0) > key } ?? -1
      order.insert(first, at: behind + 1)
    }
  }
}
