import CZlib

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
