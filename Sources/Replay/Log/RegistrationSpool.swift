import Domain
import JSON
import LineFiles

/// The registrations of an export in the order of the log, in a file, with the newest of each device. Memory is about 100 bytes for each
/// device.
final class RegistrationSpool {
  /// The registration of a device that is in force.
  private struct NewestRegistration {
    /// The number of its line, from 1; nil if nothing is written of the device.
    var line: Int?
    var updatedAt: Timestamp
    var isRemoved = false
    /// Whether it comes from the compacted topic.
    var isCompleted = false
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
  var count: Int { newest.values.count { $0.line != nil } }
  /// The number of these that were removed and did not register again.
  var removedCount: Int { newest.values.count { $0.line != nil && $0.isRemoved } }
  /// The number of these whose registration comes from the compacted topic.
  var completedCount: Int { newest.values.count { $0.line != nil && $0.isCompleted } }

  /// Adds a registration. It counts unless a later one is known, as in a planner.
  /// - Parameters:
  ///   - registration: The registration.
  ///   - time: Its log time.
  /// - Throws: `LineFileError` if it cannot be written.
  func add(_ registration: Registration, at time: Timestamp) throws(LineFileError) {
    if let known = newest[registration.device], registration.updatedAt < known.updatedAt { return }
    try append(registration)
    newest[registration.device] = NewestRegistration(line: lines, updatedAt: min(registration.updatedAt, time))
  }

  /// Adds a registration of the compacted topic, unless the log has the device.
  /// - Throws: `LineFileError` if it cannot be written.
  func complete(_ registration: Registration) throws(LineFileError) {
    if let known = newest[registration.device], !known.isCompleted || registration.updatedAt < known.updatedAt {
      return
    }
    try append(registration)
    newest[registration.device] = NewestRegistration(
      line: lines, updatedAt: registration.updatedAt, isCompleted: true)
  }

  /// Notes that the compacted topic has the removal of a device.
  func completeRemoval(of device: Identifier) {
    guard newest[device]?.isCompleted == true else { return }
    newest[device] = NewestRegistration(line: nil, updatedAt: .distantPast, isCompleted: true)
  }

  /// Notes that a device registered after the time that is exported. Its present registration says nothing of that time.
  func noteLater(_ device: Identifier) {
    if newest[device] == nil { newest[device] = NewestRegistration(line: nil, updatedAt: .distantPast) }
  }

  private func append(_ registration: Registration) throws(LineFileError) {
    json.reset()
    registration.encode(to: &json)
    try writer.append(json.bytes)
    try writer.endLine()
    lines += 1
  }

  /// Notes that a device was removed.
  /// - Parameters:
  ///   - device: The device.
  ///   - keeps: Whether its registration stays, because it was there for a part of the time that is exported.
  func remove(_ device: Identifier, keeps: Bool) {
    // The compacted topic may still have it.
    let line = keeps ? newest[device]?.line : nil
    newest[device] = NewestRegistration(line: line, updatedAt: .distantPast, isRemoved: true)
  }

  /// Writes the newest registration of each device, in the order of the log.
  /// - Throws: `LineFileError` if a file cannot be read or written.
  func write(to output: inout LineWriter) throws(LineFileError) {
    try writer.close()
    let wanted = newest.values.compactMap(\.line).sorted()
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
