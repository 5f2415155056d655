import Domain
import JSON
import LineFiles

/// The registrations of an export in the order of the log, in a file, with the newest of each device. Memory is about 100 bytes for each
/// device.
final class RegistrationSpool {
  /// The registration of a device that is in force.
  private struct NewestRegistration {
    /// The number of its line, from 1.
    var line: Int
    var updatedAt: Timestamp
    var isRemoved = false
  }

  private let path: String
  private var writer: LineWriter
  private var json = JSONWriter(reserving: 1024)
  private var lines = 0
  private var newest: [Identifier: NewestRegistration] = [:]

  /// Creates an empty file.
  /// - Throws: `LineFileError` if it cannot be made.
  init(folder: String) throws(LineFileError) {
    path = folder + "/registrations.jsonl"
    writer = try LineWriter(path: path, isPrivate: true)
  }

  /// The number of devices with a registration.
  var count: Int { newest.count }
  /// The number of these that were removed and did not register again.
  var removedCount: Int { newest.values.count { $0.isRemoved } }

  /// Whether a device has a registration.
  func holds(_ device: Identifier) -> Bool { newest[device] != nil }

  /// Adds a registration. It counts unless a later one is known, as in a planner.
  /// - Parameters:
  ///   - registration: The registration.
  ///   - time: Its log time.
  /// - Throws: `LineFileError` if it cannot be written.
  func add(_ registration: Registration, at time: Timestamp) throws(LineFileError) {
    if let known = newest[registration.device], registration.updatedAt < known.updatedAt { return }
    json.reset()
    registration.encode(to: &json)
    try writer.append(json.bytes)
    try writer.endLine()
    lines += 1
    newest[registration.device] = NewestRegistration(line: lines, updatedAt: min(registration.updatedAt, time))
  }

  /// Notes that a device was removed.
  /// - Parameters:
  ///   - device: The device.
  ///   - keeps: Whether its registration stays, because it was there for a part of the time that is exported.
  func remove(_ device: Identifier, keeps: Bool) {
    if !keeps { newest[device] = nil }
    newest[device]?.isRemoved = true
    newest[device]?.updatedAt = .distantPast
  }

  /// Writes the newest registration of each device, in the order of the log.
  /// - Throws: `LineFileError` if a file cannot be read or written.
  func write(to output: inout LineWriter) throws(LineFileError) {
    try writer.close()
    let wanted = newest.values.map(\.line).sorted()
    var reader = try LineReader(path: path)
    var place = 0
    while place < wanted.count, let line = try reader.next() {
      guard reader.lineNumber == wanted[place] else { continue }
      try output.append(line)
      try output.endLine()
      place += 1
    }
  }
}
