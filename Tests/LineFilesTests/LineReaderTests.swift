import Foundation
import LineFiles
import Testing

@Suite("Reading lines")
struct LineReaderTests {
  /// Every line as text; errors that reading survives as their description.
  private func lines(_ path: String, lineBytesMax: Int = LineReader.defaultLineBytesMax) throws -> [String] {
    var reader = try LineReader(path: path, lineBytesMax: lineBytesMax)
    var lines: [String] = []
    while true {
      do throws(LineFileError) {
        guard let line = try reader.next() else { return lines }
        lines.append(String(decoding: line, as: UTF8.self))
      } catch {
        guard error.canContinue, case .lineTooLong(_, let line, let bytes, _) = error else { throw error }
        lines.append("<\(line): \(bytes) bytes>")
      }
    }
  }

  @Test(
    "lines end at \\n, \\r\\n or the end of the file",
    arguments: [
      ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb", ["a", "b"]), ("\n\nb\n", ["", "", "b"]),
      ("a\rb\n", ["a\rb"]), ("\r\n\r", ["", ""]),
      // A byte order mark is no part of the first line, and belongs to the text anywhere else.
      ("\u{feff}a\n\u{feff}b\n", ["a", "\u{feff}b"]), ("\u{feff}\u{feff}a", ["\u{feff}a"]), ("\u{feff}", [""]),
    ] as [(String, [String])])
  func ends(text: String, expected: [String]) throws {
    try withFolder { folder in
      try put([UInt8](text.utf8), "\(folder)/f")
      #expect(try lines("\(folder)/f") == expected)
      try gzip([UInt8](text.utf8), "\(folder)/f.gz")
      #expect(try lines("\(folder)/f.gz") == expected)
    }
  }

  @Test("plain and gzip files of any line lengths yield the same lines")
  func sameLines() throws {
    try withFolder { folder in
      // Lengths around the sizes of the buffers, where an index would be off by one.
      let lengths = [0, 1, 2, 131_071, 131_072, 131_073, 262_143, 262_144, 262_145, 700_000, 3, 1_000_000, 5]
      let expected = lengths.enumerated().map { String(repeating: Character(UnicodeScalar(UInt8(97 + $0))), count: $1) }
      let text = [UInt8]((expected.joined(separator: "\n") + "\n").utf8)
      try put(text, "\(folder)/f")
      try gzip(text, "\(folder)/f.gz")
      #expect(try lines("\(folder)/f") == expected)
      #expect(try lines("\(folder)/f.gz") == expected)
    }
  }

  @Test("gzip is known by its first bytes, not by its name")
  func magic() throws {
    try withFolder { folder in
      try gzip([UInt8]("a\nb\n".utf8), "\(folder)/f.gz")
      try put(try bytes("\(folder)/f.gz"), "\(folder)/f.jsonl")
      #expect(try lines("\(folder)/f.jsonl") == ["a", "b"])
      try put([UInt8]("plain\n".utf8), "\(folder)/plain.gz")
      #expect(try lines("\(folder)/plain.gz") == ["plain"])
    }
  }

  @Test("several gzip members in a row are one stream, zeros between and after them are padding")
  func members() throws {
    try withFolder { folder in
      try gzip([UInt8]("a\nb".utf8), "\(folder)/1.gz")
      try gzip([UInt8]("c\nd\n".utf8), "\(folder)/2.gz")
      let one = try bytes("\(folder)/1.gz")
      let two = try bytes("\(folder)/2.gz")
      try put(one + two, "\(folder)/both")
      #expect(try lines("\(folder)/both") == ["a", "bc", "d"])
      try put(one + [0, 0, 0] + two + [UInt8](repeating: 0, count: 300_000), "\(folder)/padded")
      #expect(try lines("\(folder)/padded") == ["a", "bc", "d"])
      // Thousands of members, so that their borders meet the borders of the input buffer.
      try put((0..<20_000).flatMap { _ in two }, "\(folder)/many")
      #expect(try lines("\(folder)/many").count == 40_000)
    }
  }

  @Test("a gzip stream that breaks off yields its whole lines, then an error with the position")
  func truncated() throws {
    try withFolder { folder in
      let text = (1...20_000).map { "line \($0) \($0 &* 2_654_435_761)" }
      try gzip([UInt8]((text.joined(separator: "\n") + "\n").utf8), "\(folder)/whole.gz")
      let whole = try bytes("\(folder)/whole.gz")
      for kept in [2, 3, 10, 19, whole.count / 2, whole.count - 9, whole.count - 1] {
        try put(Array(whole.prefix(kept)), "\(folder)/cut")
        var reader = try LineReader(path: "\(folder)/cut")
        var given: [String] = []
        let error = #expect(throws: LineFileError.self) {
          while let line = try reader.next() { given.append(String(decoding: line, as: UTF8.self)) }
        }
        #expect(error == .truncatedGzip(path: "\(folder)/cut", position: Int64(kept), line: given.count))
        #expect(given == Array(text.prefix(given.count)))
        #expect(error?.canContinue == false)
      }
    }
  }

  @Test("a damaged gzip stream is an error with the position, never wrong lines at the end")
  func damaged() throws {
    try withFolder { folder in
      try gzip([UInt8](String(repeating: "some line\n", count: 1000).utf8), "\(folder)/f.gz")
      var damaged = try bytes("\(folder)/f.gz")
      damaged[damaged.count - 6] ^= 0xff
      try put(damaged, "\(folder)/checksum")
      let error = #expect(throws: LineFileError.self) { try lines("\(folder)/checksum") }
      #expect(
        error?.description.hasSuffix(
          "after line 1000: incorrect data check; copy or compress the file again") == true)
      try put(try bytes("\(folder)/f.gz") + [UInt8]("junk".utf8), "\(folder)/trailing")
      #expect(throws: LineFileError.self) { try lines("\(folder)/trailing") }
    }
  }

  @Test("a line over the bound is refused by number, and the next line follows", arguments: [false, true])
  func tooLong(compressed: Bool) throws {
    try withFolder { folder in
      let text = [
        "ok", String(repeating: "x", count: 10), String(repeating: "y", count: 11), "after",
        String(repeating: "z", count: 5_000_000),
      ]
      let all = [UInt8](text.joined(separator: "\n").utf8)
      if compressed { try gzip(all, "\(folder)/f.gz") } else { try put(all, "\(folder)/f.gz") }
      let expected = ["ok", "xxxxxxxxxx", "<3: 11 bytes>", "after", "<5: 5000000 bytes>"]
      #expect(try lines("\(folder)/f.gz", lineBytesMax: 10) == expected)
    }
  }

  @Test("the bound does not count the line's end")
  func boundWithoutEnd() throws {
    try withFolder { folder in
      try put([UInt8]("0123456789\r\n0123456789\n01234567890\r\n0123456789\r".utf8), "\(folder)/f")
      #expect(
        try lines("\(folder)/f", lineBytesMax: 10) == ["0123456789", "0123456789", "<3: 11 bytes>", "0123456789"])
    }
  }

  @Test("a slice that is kept stays as it was")
  func keptSlice() throws {
    try withFolder { folder in
      let text = (0..<50_000).map { "line \($0)" }
      try put([UInt8](text.joined(separator: "\n").utf8), "\(folder)/f")
      var reader = try LineReader(path: "\(folder)/f")
      var kept: [ArraySlice<UInt8>] = []
      while let line = try reader.next() { if reader.lineNumber % 10_000 == 1 { kept.append(line) } }
      #expect(
        kept.map { String(decoding: $0, as: UTF8.self) } == [
          "line 0", "line 10000", "line 20000", "line 30000", "line 40000",
        ])
    }
  }

  @Test("a pipe is read as it comes, plain and gzip")
  func pipes() throws {
    try withFolder { folder in
      try gzip([UInt8]("a\nb".utf8), "\(folder)/f.gz")
      for content in [[UInt8]("a\nb".utf8), try bytes("\(folder)/f.gz")] {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: content)
        try pipe.fileHandleForWriting.close()
        #expect(try lines("/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)") == ["a", "b"])
      }
    }
  }

  @Test("progress counts bytes of the file as stored")
  func progress() throws {
    try withFolder { folder in
      try gzip([UInt8](String(repeating: "line\n", count: 100_000).utf8), "\(folder)/f.gz")
      let size = Int64(try bytes("\(folder)/f.gz").count)
      var reader = try LineReader(path: "\(folder)/f.gz")
      #expect(reader.bytesTotal == size)
      var last: Int64 = 0
      while try reader.next() != nil {
        #expect(reader.bytesConsumed >= last)
        last = reader.bytesConsumed
      }
      #expect(reader.bytesConsumed == size)
      #expect(try LineReader(path: "/dev/null").bytesTotal == nil)
    }
  }

  @Test("the errors for a missing file and for a folder name the path and say what to do")
  func openErrors() throws {
    let missing = #expect(throws: LineFileError.self) { _ = try LineReader(path: "/nowhere/f.jsonl") }
    #expect(
      missing?.description
        == "cannot open /nowhere/f.jsonl: no such file or directory; check the path: a relative one counts from the working directory"
    )
    let folder = #expect(throws: LineFileError.self) { _ = try LineReader(path: "/tmp") }
    #expect(folder?.description == "cannot read /tmp: is a directory; name a file, not a folder")
  }
}
