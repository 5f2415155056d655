import Glibc

/// Returns the index of the first newline in `bytes[from..<to]`.
func firstNewline(in bytes: [UInt8], from: Int, to: Int) -> Int? {
  precondition(from >= 0 && from <= to && to <= bytes.count, "a range outside the buffer")
  return unsafe bytes.withUnsafeBytes { bytes in
    guard from < to, let base = bytes.baseAddress else { return nil }
    guard let hit = unsafe memchr(base + from, Int32(UInt8(ascii: "\n")), to - from) else { return nil }
    return unsafe UnsafeRawPointer(hit) - base
  }
}

/// Copies `buffer[from..<to]` to the front of the buffer, whose length stays the same.
func moveDown(_ buffer: inout [UInt8], from: Int, to: Int) {
  precondition(from >= 0 && from <= to && to <= buffer.count, "a range outside the buffer")
  unsafe buffer.withUnsafeMutableBytes { bytes in
    guard let base = bytes.baseAddress else { return }
    unsafe _ = memmove(base, base + from, to - from)
  }
}
