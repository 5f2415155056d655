import CZlib

/// Owns zlib's state for writing gzip. The header has no time and no name, so the same input gives the same output.
@safe final class Deflater {
  private let stream: UnsafeMutablePointer<z_stream>

  init(level: Int32) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // 15 + 16 as in `Inflater`; 8 is zlib's default for the memory of its state.
    let code = unsafe deflateInit2_(
      stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(code == Z_OK, "zlib cannot start: code \(code)")
  }

  deinit {
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Compresses `input` from the index `from` on, and writes the result to `output` from its start. Call it again with
  /// the rest of the input until `isDone`.
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
