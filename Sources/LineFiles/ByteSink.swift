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
