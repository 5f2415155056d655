/// The disk of a machine. It can lose, cut off and corrupt files.
final class SimulatedDisk {
  var files: [String: [UInt8]] = [:]
  private(set) var writes = 0

  func write(_ name: String, _ bytes: [UInt8]) {
    files[name] = bytes
    writes += 1
  }

  enum Damage: String, CaseIterable { case missing, torn, corrupted }

  /// Damages one file.
  ///
  /// - Returns: Whether there was a file.
  func damage(_ damage: Damage, below: (Int) -> Int) -> Bool {
    let names = files.keys.sorted()
    guard !names.isEmpty else { return false }
    let name = names[below(names.count)]
    switch damage {
    case .missing: files[name] = nil
    case .torn: files[name] = Array((files[name] ?? []).prefix(below((files[name]?.count ?? 0) + 1)))
    case .corrupted:
      let count = files[name]?.count ?? 0
      guard count > 0 else { return false }
      files[name]?[below(count)] ^= UInt8(1 << below(8))
    }
    return true
  }
}
