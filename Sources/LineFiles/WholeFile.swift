/// Reads whole files of any kind: regular ones, pipes, devices and `-`, the standard input.
public enum WholeFile {
  /// Reads a file to its end. Waits for a pipe until its writer has closed it.
  /// - Parameters:
  ///   - path: The file; `-` is the standard input.
  ///   - bytesMax: The largest number of bytes.
  /// - Returns: The bytes as they are.
  /// - Throws: ``LineFileError/system(operation:path:code:)`` if the file cannot be read,
  ///   ``LineFileError/fileTooLong(path:bytesMax:)`` if it has more bytes.
  public static func bytes(_ path: String, bytesMax: Int) throws(LineFileError) -> [UInt8] {
    let file = try Descriptor.reading(path)
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    var filled = 0
    while true {
      if filled == bytes.count { bytes += repeatElement(0, count: bytes.count) }
      let more = try file.read(into: &bytes, from: filled)
      if more == 0 { return Array(bytes[..<filled]) }
      filled += more
      if filled > bytesMax { throw .fileTooLong(path: file.path, bytesMax: bytesMax) }
    }
  }
}
