import Foundation
import LineFiles
import Testing

@Suite("Files of one run are distinct")
struct NamedPathTests {
  private func conflict(_ outputs: [String], inputs: [String] = []) -> String? {
    do throws(LineFileError) {
      try NamedPath.checkDistinct(
        outputs: outputs.enumerated().map { NamedPath("--out\($0.offset + 1)", $0.element) },
        inputs: inputs.enumerated().map { NamedPath("--in\($0.offset + 1)", $0.element) })
      return nil
    } catch {
      return error.description
    }
  }

  @Test("two outputs with one path are refused before the file exists and after, however the path is spelled")
  func twoOutputs() throws {
    try withFolder { folder in
      try FileManager.default.createDirectory(atPath: "\(folder)/sub", withIntermediateDirectories: false)
      for _ in 1...2 {
        for other in ["\(folder)/a", "\(folder)/./a", "\(folder)//a", "\(folder)/sub/../a"] {
          #expect(
            conflict(["\(folder)/a", other])
              == "--out2 (\(other)) and --out1 (\(folder)/a) are the same file; give each output a file of its own")
        }
        #expect(conflict(["\(folder)/a", "\(folder)/b", "\(folder)/sub/a"]) == nil)
        try put([], "\(folder)/a")
      }
    }
  }

  @Test("an output that would replace an input is refused, two inputs may be one file")
  func outputAndInput() throws {
    try withFolder { folder in
      try put([], "\(folder)/events")
      #expect(
        conflict(["\(folder)/a", "\(folder)/events"], inputs: ["\(folder)/devices", "\(folder)/events"])
          == "--out2 (\(folder)/events) and --in2 (\(folder)/events) are the same file; "
          + "an output would replace what is read")
      #expect(conflict(["\(folder)/a"], inputs: ["\(folder)/events", "\(folder)/events"]) == nil)
    }
  }

  @Test("symbolic and hard links to one file are that file, also through a linked folder")
  func links() throws {
    try withFolder { folder in
      let files = FileManager.default
      try put([], "\(folder)/real")
      try files.createSymbolicLink(atPath: "\(folder)/symbolic", withDestinationPath: "\(folder)/real")
      try files.linkItem(atPath: "\(folder)/real", toPath: "\(folder)/hard")
      try files.createSymbolicLink(atPath: "\(folder)/again", withDestinationPath: folder)
      for link in ["symbolic", "hard", "again/real", "again/symbolic"] {
        #expect(conflict(["\(folder)/\(link)"], inputs: ["\(folder)/real"]) != nil, "\(link)")
      }
      #expect(conflict(["\(folder)/again/new", "\(folder)/new"]) != nil)
    }
  }

  @Test("a link to nothing is its own name, which a writer replaces")
  func danglingLink() throws {
    try withFolder { folder in
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "\(folder)/nothing")
      #expect(conflict(["\(folder)/link", "\(folder)/nothing"]) == nil)
      for name in ["link", "nothing"] {
        var writer = try LineWriter(path: "\(folder)/\(name)")
        try writer.append(name)
        try writer.close()
      }
      #expect(try bytes("\(folder)/link") == Array("link".utf8))
      #expect(try bytes("\(folder)/nothing") == Array("nothing".utf8))
    }
  }

  @Test("devices, folders and folders that are missing are never in conflict")
  func exempt() {
    for path in ["/dev/null", "/tmp", "/nowhere/f", ""] {
      #expect(conflict([path, path], inputs: [path]) == nil, "\(path)")
    }
  }

  @Test("a file in the working directory is known by its bare name")
  func relative() throws {
    let folder = FileManager.default.currentDirectoryPath
    #expect(conflict(["not-there-\(folder.count)", "\(folder)/not-there-\(folder.count)"]) != nil)
  }
}
