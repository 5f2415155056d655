import CZlib
import Glibc

// All unsafe code of this module is in this file. Each pointer handed to the system or to zlib points into an array and
// is used only within the closure that lends it, with lengths checked against that array before.

/// The `errno` values that this module tells apart, and their texts.
enum SystemCode {
  static let brokenPipe = EPIPE
  static let noRoom = [ENOSPC, EDQUOT, EFBIG]

  /// What the system calls it, in lower case.
  static func text(_ code: Int32) -> String {
    // glibc's strerror gives a static text for known codes and a thread-local one for others.
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    let words = unsafe String(cString: text)
    return words.prefix(1).lowercased() + words.dropFirst()
  }

  /// What a person can do about it, where there is something to say.
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

/// Owns one file descriptor; those of the standard streams are borrowed.
final class Descriptor {
  /// As people should read it.
  let path: String
  private var number: Int32
  private let isBorrowed: Bool

  private init(path: String, number: Int32, isBorrowed: Bool = false) {
    self.path = path
    self.number = number
    self.isBorrowed = isBorrowed
  }

  deinit { _ = close() }

  /// Opens for reading; `-` is the standard input.
  static func reading(_ path: String) throws(LineFileError) -> Descriptor {
    if path == "-" { return Descriptor(path: "standard input", number: STDIN_FILENO, isBorrowed: true) }
    return try open(path, O_RDONLY)
  }

  /// Opens what cannot be replaced (a device, a pipe) for writing; `-` is the standard output.
  static func writing(_ path: String) throws(LineFileError) -> Descriptor {
    if path == "-" { return Descriptor(path: "standard output", number: STDOUT_FILENO, isBorrowed: true) }
    return try open(path, O_WRONLY)
  }

  /// A new file beside `target`, with the permissions of the one that it will replace.
  static func temporary(beside target: String) throws(LineFileError) -> Descriptor {
    var attempt = 0
    while true {
      let name = "\(target).\(getpid())-\(attempt).partial"
      do throws(LineFileError) {
        let descriptor = try open(name, O_WRONLY | O_CREAT | O_EXCL)
        if let status = status(of: target) { _ = fchmod(descriptor.number, status.st_mode & 0o7777) }
        return descriptor
      } catch {
        guard case .system(_, _, let code) = error else { throw error }
        // Another writer of this process has the same target, or a killed process had the same id.
        attempt += 1
        if code != EEXIST || attempt == 1000 { throw .system(operation: .open, path: target, code: code) }
      }
    }
  }

  /// The path, links resolved, where a regular file can be renamed to; nil for `-`, devices, pipes and folders.
  static func replaceableFile(_ path: String) -> String? {
    if path == "-" { return nil }
    guard let status = status(of: path) else { return path }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  private static func open(_ path: String, _ flags: Int32) throws(LineFileError) -> Descriptor {
    while true {
      let number = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o666)
      if number >= 0 { return Descriptor(path: path, number: number) }
      if errno != EINTR { throw .system(operation: .open, path: path, code: errno) }
    }
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
  }

  /// The size of a regular file; nil for anything else.
  var regularFileBytes: Int64? {
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Reads behind `offset` as much as there is room for, or less; 0 at the end.
  func read(into buffer: inout [UInt8], from offset: Int) throws(LineFileError) -> Int {
    precondition(offset >= 0 && offset < buffer.count, "no room to read into")
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe Glibc.read(number, bytes.baseAddress.map { unsafe $0 + offset }, bytes.count - offset)
      }
      if count >= 0 { return count }
      let code = errno
      if !waitIfTemporary(code, for: POLLIN) { throw .system(operation: .read, path: path, code: code) }
    }
  }

  /// Writes the first `count` bytes, all of them; gives 0 or the `errno`.
  func write(_ bytes: [UInt8], count: Int) -> Int32 {
    precondition(count <= bytes.count, "more to write than there is")
    var position = 0
    while position < count {
      let written = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.write(number, bytes.baseAddress.map { unsafe $0 + position }, count - position)
      }
      let code = errno
      if written >= 0 { position += written } else if !waitIfTemporary(code, for: POLLOUT) { return code }
    }
    return 0
  }

  /// Whether to try again: at once after a signal, when ready where somebody made the descriptor non-blocking.
  private func waitIfTemporary(_ code: Int32, for event: Int32) -> Bool {
    if code == EINTR { return true }
    guard code == EAGAIN else { return false }
    var waiting = pollfd(fd: number, events: Int16(event), revents: 0)
    return unsafe poll(&waiting, 1, -1) >= 0 || errno == EINTR
  }

  /// Gives 0 or the `errno`; without effect after the first time and for the standard streams.
  func close() -> Int32 {
    if isBorrowed || number < 0 { return 0 }
    // Linux frees the number even when close fails or is interrupted, so it is never closed twice.
    defer { number = -1 }
    return Glibc.close(number) == 0 || errno == EINTR ? 0 : errno
  }

  /// Gives nil or the `errno`.
  static func rename(_ source: String, to target: String) -> Int32? {
    unsafe Glibc.rename(source, target) == 0 ? nil : errno
  }

  /// Removes a temporary file; that it is gone already is no concern.
  static func remove(_ path: String) { _ = unsafe unlink(path) }
}

/// The first newline in `bytes[from..<to]`.
func firstNewline(in bytes: [UInt8], from: Int, to: Int) -> Int? {
  precondition(from >= 0 && from <= to && to <= bytes.count, "a range outside the buffer")
  return unsafe bytes.withUnsafeBytes { bytes in
    guard from < to, let base = bytes.baseAddress else { return nil }
    guard let hit = unsafe memchr(base + from, Int32(UInt8(ascii: "\n")), to - from) else { return nil }
    return unsafe UnsafeRawPointer(hit) - base
  }
}

/// Moves `buffer[from..<to]` to the front.
func moveDown(_ buffer: inout [UInt8], from: Int, to: Int) {
  precondition(from >= 0 && from <= to && to <= buffer.count, "a range outside the buffer")
  unsafe buffer.withUnsafeMutableBytes { bytes in
    guard let base = bytes.baseAddress else { return }
    unsafe _ = memmove(base, base + from, to - from)
  }
}

/// Owns zlib's state for reading gzip. The state is on the heap because zlib keeps its address.
@safe final class Inflater {
  enum Outcome { case more, memberEnd, failed(String) }

  private let stream: UnsafeMutablePointer<z_stream>

  init() {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // 15: the largest window; 16: a gzip header and trailer. Fails only without memory or with another zlib's header.
    let code = unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(code == Z_OK, "zlib cannot start: code \(code)")
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Makes ready for the next member.
  func reset() { unsafe inflateReset(stream) }

  /// Inflates `input[from..<to]` behind `offset` of `output`, as far as both reach.
  func step(
    input: inout [UInt8], from: Int, to: Int, into output: inout [UInt8], at offset: Int
  ) -> (consumed: Int, produced: Int, outcome: Outcome) {
    precondition(from >= 0 && from <= to && to <= input.count && offset <= output.count, "a range outside the buffer")
    let room = output.count - offset
    let code = unsafe input.withUnsafeMutableBufferPointer { source in
      unsafe output.withUnsafeMutableBufferPointer { target in
        unsafe stream.pointee.next_in = source.baseAddress.map { unsafe $0 + from }
        unsafe stream.pointee.avail_in = UInt32(to - from)
        unsafe stream.pointee.next_out = target.baseAddress.map { unsafe $0 + offset }
        unsafe stream.pointee.avail_out = UInt32(room)
        return unsafe inflate(stream, Z_NO_FLUSH)
      }
    }
    let consumed = unsafe to - from - Int(stream.pointee.avail_in)
    let produced = unsafe room - Int(stream.pointee.avail_out)
    return (consumed, produced, outcome(code))
  }

  private func outcome(_ code: Int32) -> Outcome {
    switch code {
    case Z_OK, Z_BUF_ERROR: .more
    case Z_STREAM_END: .memberEnd
    case Z_NEED_DICT: .failed("it needs a preset dictionary")
    default: unsafe .failed(stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib error \(code)")
    }
  }
}

/// Owns zlib's state for writing gzip. The header holds no time and no name: the same bytes in, the same bytes out.
@safe final class Deflater {
  private let stream: UnsafeMutablePointer<z_stream>

  init(level: Int32) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // As in `Inflater`; 8 is zlib's default for the memory of its state.
    let code = unsafe deflateInit2_(
      stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(code == Z_OK, "zlib cannot start: code \(code)")
  }

  deinit {
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Deflates the rest of `input` into all of `output`; to be called with what is left until it is done.
  func step(
    input: inout [UInt8], from: Int, isLast: Bool, into output: inout [UInt8]
  ) -> (consumed: Int, produced: Int, isDone: Bool) {
    precondition(from >= 0 && from <= input.count && !output.isEmpty, "a range outside the buffer")
    let (offered, room) = (input.count - from, output.count)
    let code = unsafe input.withUnsafeMutableBufferPointer { source in
      unsafe output.withUnsafeMutableBufferPointer { target in
        unsafe stream.pointee.next_in = source.baseAddress.map { unsafe $0 + from }
        unsafe stream.pointee.avail_in = UInt32(offered)
        unsafe stream.pointee.next_out = target.baseAddress
        unsafe stream.pointee.avail_out = UInt32(room)
        return unsafe deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
      }
    }
    let consumed = unsafe offered - Int(stream.pointee.avail_in)
    let spare = unsafe Int(stream.pointee.avail_out)
    return (consumed, room - spare, isLast ? code == Z_STREAM_END : spare > 0)
  }
}
