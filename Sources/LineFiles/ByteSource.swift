import CZlib

/// The bytes of a file, decompressed if the first bytes show that the file is gzip.
struct ByteSource: ~Copyable {
  /// The number of bytes read at once: enough to make the cost of a system call negligible, few enough for the processor's cache.
  private static let inputBytes = 128 << 10

  let path: String
  let bytesTotal: Int64?
  private let descriptor: Descriptor
  private var inflater: Inflater?
  /// The bytes `input[position..<count]` are read from the file and not yet used: those that were read to recognize
  /// gzip, or those that zlib has not consumed.
  private var input: [UInt8]
  private var position = 0
  private var count = 0
  private var bytesRead: Int64 = 0
  /// Whether the next byte to decompress is outside of a gzip member: before the first one, or behind the end of one.
  private var atMemberStart = true
  /// zlib's refusal and its position; thrown after the bytes before it have been returned.
  private var failure: (detail: String, position: Int64)?

  init(path: String) throws(LineFileError) {
    let opened = try Descriptor.reading(path)
    var first = [UInt8](repeating: 0, count: Self.inputBytes)
    var filled = 0
    while filled < 2 {
      let more = try opened.read(into: &first, from: filled)
      if more == 0 { break }
      filled += more
    }
    descriptor = opened
    self.path = opened.path
    bytesTotal = opened.regularFileBytes
    if filled >= 2 && first[0] == 0x1f && first[1] == 0x8b { inflater = Inflater() }
    input = first
    count = filled
    bytesRead = Int64(filled)
  }

  var bytesConsumed: Int64 { bytesRead - Int64(count - position) }

  /// Reads into `buffer` from `offset` on and returns the number of bytes; 0 at the end. `line` is for the text of errors.
  mutating func read(into buffer: inout [UInt8], from offset: Int, line: Int) throws(LineFileError) -> Int {
    if inflater != nil { return try inflate(into: &buffer, from: offset, line: line) }
    guard position < count else {
      let more = try descriptor.read(into: &buffer, from: offset)
      bytesRead += Int64(more)
      return more
    }
    let taken = min(count - position, buffer.count - offset)
    buffer.replaceSubrange(offset..<offset + taken, with: input[position..<position + taken])
    position += taken
    return taken
  }

  private mutating func inflate(
    into buffer: inout [UInt8], from offset: Int, line: Int
  ) throws(LineFileError) -> Int {
    while true {
      if let failure {
        throw .corruptGzip(path: path, position: failure.position, line: line, detail: failure.detail)
      }
      if position == count {
        position = 0
        count = try descriptor.read(into: &input, from: 0)
        bytesRead += Int64(count)
        if count == 0 && !atMemberStart { throw .truncatedGzip(path: path, position: bytesRead, line: line) }
        if count == 0 { return 0 }
      }
      // Tape and block tools pad a member with zeros. The gzip tool ignores them too.
      while atMemberStart && position < count && input[position] == 0 { position += 1 }
      if position == count { continue }
      let produced = step(into: &buffer, from: offset)
      if produced > 0 { return produced }
    }
  }

  /// Calls zlib once and returns the number of bytes produced.
  private mutating func step(into buffer: inout [UInt8], from offset: Int) -> Int {
    guard let inflater else { return 0 }
    atMemberStart = false
    let step = inflater.step(input: &input, from: position, to: count, into: &buffer, at: offset)
    position += step.consumed
    switch step.outcome {
    case .more: break
    case .memberEnd:
      inflater.reset()
      atMemberStart = true
    case .failed(let detail): failure = (detail, bytesConsumed)
    }
    return step.produced
  }
}

/// Owns zlib's state for reading gzip. The state is on the heap, because zlib keeps its address.
@safe final class Inflater {
  enum Outcome { case more, memberEnd, failed(String) }

  private let stream: UnsafeMutablePointer<z_stream>

  init() {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // 15 is the largest window, 16 asks for a gzip header and trailer. The call fails only without memory, or if the header file
    // and the library are of different versions.
    let code = unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(code == Z_OK, "zlib cannot start: code \(code)")
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Prepares for the next gzip member.
  func reset() { unsafe inflateReset(stream) }

  /// Decompresses `input[from..<to]` into `output` from `offset` on, until the input is used up, `output` is full, or
  /// the gzip member ends.
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
