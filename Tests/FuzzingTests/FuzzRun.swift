import Foundation

/// Reads inputs one after the other. Each input is on disk before it is read, so that it is there when the process dies.
struct FuzzRun {
  private let target: FuzzTarget
  private let seed: UInt64
  private let place: FuzzPlace

  /// - Throws: when there is no such target, or its folder cannot be made.
  init(target name: String, seed: UInt64) throws {
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      throw FuzzFinding("there is no target '\(name)'; there are \(FuzzTarget.names.joined(separator: ", "))")
    }
    self.target = target
    self.seed = seed
    place = try FuzzPlace(target: name)
  }

  /// Reads the corpus, the seeds, and as many mutations as the target states.
  /// - Returns: the number of inputs.
  /// - Throws: the first finding.
  func cases() throws -> Int {
    var (count, mutator) = try begun()
    for _ in 0..<target.cases {
      try read(mutator.next())
      count += 1
    }
    return count
  }

  /// Reads mutations for a time.
  /// - Returns: the number of inputs.
  /// - Throws: the first finding.
  func cases(for duration: Duration) throws -> Int {
    var (count, mutator) = try begun()
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end {
      try read(mutator.next())
      count += 1
    }
    return count
  }

  /// Reads the corpus and the seeds.
  private func begun() throws -> (Int, FuzzMutator) {
    let seeds = try target.seeds()
    let known = try target.corpus() + seeds
    for input in known { try read(input) }
    return (known.count, FuzzMutator(seeds: known, form: target.form, seed: seed))
  }

  /// Reads one input.
  /// - Throws: the finding, which is then beside the input.
  func read(_ input: [UInt8]) throws {
    try place.keep(input)
    do { try target.body(input) } catch {
      try place.note("\(error)")
      throw error
    }
  }
}

/// The files in which a run leaves its last input.
struct FuzzPlace {
  /// The input that is being read, or was read last.
  let input: URL
  /// The finding, if there is one.
  let finding: URL
  private let handle: FileHandle

  /// - Throws: the file system's error.
  init(target: String) throws {
    let folder = Self.folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    input = folder.appending(path: "\(target).input")
    finding = folder.appending(path: "\(target).txt")
    try Data().write(to: input)
    try Data().write(to: finding)
    handle = try FileHandle(forWritingTo: input)
  }

  /// `ROUSE_FUZZ_FINDS`, or a folder for temporary files.
  static let folder: URL =
    ProcessInfo.processInfo.environment["ROUSE_FUZZ_FINDS"].map { URL(filePath: $0) }
    ?? FileManager.default.temporaryDirectory.appending(path: "rouse-fuzz")

  func keep(_ bytes: [UInt8]) throws {
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(bytes))
  }

  func note(_ text: String) throws { try Data(text.utf8).write(to: finding) }

  /// The finding of the last run of a target, and the place of its input.
  static func remains(of target: String) -> String {
    let folder = Self.folder
    let text = (try? String(contentsOf: folder.appending(path: "\(target).txt"), encoding: .utf8)) ?? ""
    return "\(text.isEmpty ? "the process died" : text); the input is \(folder.appending(path: "\(target).input").path)"
  }
}
