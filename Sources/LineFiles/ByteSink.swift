import CZlib

/// The destination of a writer's bytes: a descriptor, a compressor before it if the path ends in `.gz`, and the temporary name of
/// a regular file that is still being written.
struct ByteSink: ~Copyable {
  let path: String
  private var descriptor: Descriptor?
  private var deflater: Deflater?
  private var compressed: [UInt8] = []
  /// The temporary and the final path; `nil` for devices, pipes and the standard output, which are written directly.
  private let renaming: (temporary: String, final: String)?

  init(path: String, isPrivate: Bool) throws(LineFileError) {
    if let target = Descriptor.replaceableFile(path) {
      let temporary = try Descriptor.temporary(beside: target, isPrivate: isPrivate)
      renaming = (temporary.path, target)
      descriptor = temporary
      self.path = path
    } else {
      let direct = try Descriptor.writing(path)
      self.path = direct.path
      descriptor = direct
      renaming = nil
    }
    if path.hasSuffix(".gz") {
      deflater = Deflater(level: 1)
      compressed = [UInt8](repeating: 0, count: LineWriter.bufferBytes)
    }
  }

  deinit {
    if descriptor != nil, let renaming { Descriptor.remove(renaming.temporary) }
  }

  var isOpen: Bool { descriptor != nil }

  mutating func write(_ bytes: inout [UInt8]) throws(LineFileError) {
    if deflater == nil { return try writeAll(bytes, count: bytes.count) }
    try deflate(&bytes, isLast: false)
  }

  /// Ends the compressed stream, closes the file and renames it.
  mutating func finish() throws(LineFileError) {
    var nothing: [UInt8] = []
    if deflater != nil { try deflate(&nothing, isLast: true) }
    guard let code = descriptor?.close() else { return }
    if code != 0 { throw .system(operation: .close, path: path, code: code) }
    if let renaming, let code = Descriptor.rename(renaming.temporary, to: renaming.final) {
      throw .system(operation: .rename, path: path, code: code)
    }
    descriptor = nil
  }

  /// Closes and removes the temporary file.
  mutating func abandon() {
    guard descriptor != nil else { return }
    if let renaming { Descriptor.remove(renaming.temporary) }
    descriptor = nil
  }

  private mutating func deflate(_ bytes: inout [UInt8], isLast: Bool) throws(LineFileError) {
    var position = 0
    while true {
      guard let step = deflater?.step(input: &bytes, from: position, isLast: isLast, into: &compressed) else { return }
      position += step.consumed
      try writeAll(compressed, count: step.produced)
      if step.isDone { return }
    }
  }

  private func writeAll(_ bytes: [UInt8], count: Int) throws(LineFileError) {
    guard let code = descriptor?.write(bytes, count: count) else { return }
    if code != 0 { throw .system(operation: .write, path: path, code: code) }
  }
}

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
