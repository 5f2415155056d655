import Foundation
import LineFiles
import Testing

/// Writes a gzip file with the module's own writer; that others can read it is tested with `gzip` itself.
func gzip(_ bytes: [UInt8], _ path: String) throws {
  var writer = try LineWriter(path: path)
  try writer.append(bytes)
  try writer.close()
}

@Suite("Writing lines")
struct LineWriterTests {
  @Test("written lines are read back, plain and gzip", arguments: ["f.jsonl", "f.jsonl.gz"])
  func roundTrip(name: String) throws {
    try withFolder { folder in
      let path = "\(folder)/\(name)"
      let big = [UInt8](repeating: 0x61, count: 900_000)
      var writer = try LineWriter(path: path)
      for number in 0..<60_000 {
        try writer.appendLine { $0.append(contentsOf: "line \(number)".utf8) }
      }
      try writer.append(big)
      try writer.endLine()
      try writer.append([1, 2, 3][1...])
      try writer.append("é")
      let appended = writer.bytesAppended
      try writer.close()
      #expect(try names(in: folder) == [name])

      var reader = try LineReader(path: path)
      for number in 0..<60_000 { #expect(try reader.next() == ArraySlice("line \(number)".utf8)) }
      #expect(try reader.next() == big[...])
      #expect(try reader.next() == [2, 3, 0xc3, 0xa9])
      #expect(try reader.next() == nil)
      if name == "f.jsonl" { #expect(Int64(try bytes(path).count) == appended) }
    }
  }

  @Test("the same lines give the same gzip bytes, and other tools read them")
  func reproducible() throws {
    try withFolder { folder in
      let text = [UInt8]((0..<100_000).map { "\($0 &* 7_919)\n" }.joined().utf8)
      try gzip(text, "\(folder)/a.gz")
      try gzip(text, "\(folder)/b.gz")
      #expect(try bytes("\(folder)/a.gz") == bytes("\(folder)/b.gz"))
      let tool = Process()
      tool.executableURL = URL(fileURLWithPath: "/bin/gzip")
      tool.arguments = ["-dkf", "\(folder)/a.gz"]
      try tool.run()
      tool.waitUntilExit()
      #expect(tool.terminationStatus == 0)
      #expect(try bytes("\(folder)/a") == text)
      try gzip([], "\(folder)/empty.gz")
      var reader = try LineReader(path: "\(folder)/empty.gz")
      #expect(try reader.next() == nil)
    }
  }

  @Test("the final name appears only with close, the old content stays until then")
  func renames() throws {
    try withFolder { folder in
      try put([UInt8]("old".utf8), "\(folder)/f")
      var writer = try LineWriter(path: "\(folder)/f")
      try writer.append("new")
      try writer.flush()
      #expect(try bytes("\(folder)/f") == [UInt8]("old".utf8))
      #expect(try names(in: folder).count == 2)
      try writer.close()
      try writer.close()
      #expect(try bytes("\(folder)/f") == [UInt8]("new".utf8))
      #expect(try names(in: folder) == ["f"])
    }
  }

  @Test("abort, or letting go without close, leaves nothing")
  func leavesNothing() throws {
    try withFolder { folder in
      var aborted = try LineWriter(path: "\(folder)/aborted")
      try aborted.append("x")
      try aborted.flush()
      aborted.abort()
      try aborted.close()
      do {
        var dropped = try LineWriter(path: "\(folder)/dropped.gz")
        try dropped.append("x")
      }
      #expect(try names(in: folder).isEmpty)
    }
  }

  @Test("two writers of one path do not mix; the later close wins")
  func twoWriters() throws {
    try withFolder { folder in
      var first = try LineWriter(path: "\(folder)/f")
      var second = try LineWriter(path: "\(folder)/f")
      try first.append("first")
      try second.append("second")
      try second.close()
      try first.close()
      #expect(try bytes("\(folder)/f") == [UInt8]("first".utf8))
      #expect(try names(in: folder) == ["f"])
    }
  }

  @Test("a link is written through, permissions stay")
  func linkAndPermissions() throws {
    try withFolder { folder in
      try put([], "\(folder)/real")
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/real")
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "\(folder)/real")
      var writer = try LineWriter(path: "\(folder)/link")
      try writer.append("x")
      try writer.close()
      #expect(try bytes("\(folder)/real") == [UInt8]("x".utf8))
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/link") == "\(folder)/real")
      let permissions = try FileManager.default.attributesOfItem(atPath: "\(folder)/real")[.posixPermissions] as? Int
      #expect(permissions == 0o600)
    }
  }

  @Test("a private file is for its owner alone before it has its name, and keeps the permissions of what it replaces")
  func privateFile() throws {
    func permissions(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    try withFolder { folder in
      var writer = try LineWriter(path: "\(folder)/f", isPrivate: true)
      for name in try names(in: folder) { #expect(try permissions("\(folder)/\(name)") == 0o600) }
      try writer.append("x")
      try writer.close()
      #expect(try permissions("\(folder)/f") == 0o600)
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: "\(folder)/f")
      var second = try LineWriter(path: "\(folder)/f", isPrivate: true)
      try second.close()
      #expect(try permissions("\(folder)/f") == 0o640)
    }
  }

  @Test("the error for a full disk says so, and each later call repeats it")
  func diskFull() throws {
    var writer = try LineWriter(path: "/dev/full")
    try writer.append("x")
    let error = try #require(throws: LineFileError.self) { try writer.close() }
    #expect(
      error.description == "cannot write /dev/full: no space left on device; "
        + "free some space or write somewhere else; no half file is left")
    #expect(throws: error) { try writer.close() }
    try writer.append("y")
    #expect(throws: error) { try writer.flush() }
    writer.abort()
    try writer.close()
  }

  @Test("the error for a closed pipe says so")
  func brokenPipe() throws {
    signal(SIGPIPE, SIG_IGN)
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    var writer = try LineWriter(path: "/dev/fd/\(pipe.fileHandleForWriting.fileDescriptor)")
    try writer.append("x")
    let error = #expect(throws: LineFileError.self) { try writer.flush() }
    #expect(error?.isBrokenPipe == true)
  }

  @Test("the errors for a missing folder and for a folder as target name the final path")
  func openErrors() throws {
    let missing = #expect(throws: LineFileError.self) { _ = try LineWriter(path: "/nowhere/f.jsonl") }
    #expect(
      missing?.description
        == "cannot open /nowhere/f.jsonl: no such file or directory; check the path: a relative one counts from the working directory"
    )
    let folder = #expect(throws: LineFileError.self) { _ = try LineWriter(path: "/tmp") }
    #expect(folder?.description == "cannot open /tmp: is a directory; name a file, not a folder")
  }
}
