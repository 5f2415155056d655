import Foundation

/// The signals that wait on disk, oldest first. Each is a file of its own, so that several processes can add and remove without a lock:
/// a file is renamed into its place when it is whole, and whichever process removes it first has removed it.
struct SignalQueue: Sendable {
  /// A signal that waits.
  struct WaitingSignal: Sendable, Equatable {
    /// The name of the file.
    var name: String
    /// The size of the file in bytes, as its name says it.
    var bytes: Int
  }

  /// The outcome of reading a file.
  enum ReadSignal: Sendable, Equatable {
    /// The signal.
    case whole(QueuedSignal)
    /// The file was torn, or written by something else.
    case damaged
    /// Another process has removed the file.
    case gone
  }

  /// The folder.
  let folder: URL
  /// The largest number of signals.
  let signalsMax: Int
  /// The bytes of all signals together.
  let bytesMax: Int

  /// The age at which a file that is no signal, such as one of a crashed write, is removed.
  private static let strayAge = Duration.seconds(3600)

  /// Adds a signal, and drops the oldest while there are too many.
  ///
  /// - Parameters:
  ///   - signal: The signal.
  ///   - time: The time, by which the signals are in order.
  ///   - sequence: Orders signals of the same time.
  /// - Returns: The number of dropped signals.
  /// - Throws: `DeviceClientError` if the file cannot be written.
  func add(_ signal: QueuedSignal, at time: ServerTime, sequence: Int) throws(DeviceClientError) -> Int {
    do {
      let bytes = try ClientCoding.bytes(signal)
      let order = Self.digits(UInt64(max(0, time.milliseconds)), 12) + "-" + Self.digits(UInt64(sequence), 8)
      let file = folder.appending(path: "\(order)-\(signal.id)-\(bytes.count).json")
      try bytes.write(to: file, options: .atomic)
    } catch {
      throw .storage("cannot write a signal to \(folder.path): \(error.localizedDescription)")
    }
    return dropBeyondBounds()
  }

  /// The signals that wait, oldest first. Files that are none are left out.
  var waiting: [WaitingSignal] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.compactMap { name in
      guard name.hasSuffix(".json"), let bytes = Int(name.dropLast(5).split(separator: "-").last ?? "") else {
        return nil
      }
      return WaitingSignal(name: name, bytes: bytes)
    }.sorted { $0.name < $1.name }
  }

  /// Reads a signal.
  ///
  /// - Throws: `DeviceClientError` if the file is there and cannot be read, such as before the first unlock of the device.
  func read(_ signal: WaitingSignal) throws(DeviceClientError) -> ReadSignal {
    let file = folder.appending(path: signal.name)
    do {
      let bytes = try Data(contentsOf: file)
      guard let signal = try? ClientCoding.value(QueuedSignal.self, bytes) else { return .damaged }
      return .whole(signal)
    } catch {
      guard FileManager.default.fileExists(atPath: file.path) else { return .gone }
      throw .storage("cannot read \(file.path): \(error.localizedDescription)")
    }
  }

  /// Removes a signal.
  ///
  /// - Returns: Whether it was still there.
  @discardableResult func remove(_ signal: WaitingSignal) -> Bool {
    let file = folder.appending(path: signal.name)
    do { try FileManager.default.removeItem(at: file) } catch {
      // Another process was faster; or the disk refuses, and the signal is sent again under the same id.
      return false
    }
    return true
  }

  /// Removes a signal that must not be sent again.
  ///
  /// - Returns: Whether it was still there.
  /// - Throws: `DeviceClientError` if the disk refuses. Without a pause the signal would be sent again and again.
  @discardableResult func removeForGood(_ signal: WaitingSignal) throws(DeviceClientError) -> Bool {
    if remove(signal) { return true }
    let file = folder.appending(path: signal.name)
    guard FileManager.default.fileExists(atPath: file.path) else { return false }
    throw .storage("cannot remove \(file.path), which was sent")
  }

  /// Removes files that crashed processes have left.
  ///
  /// - Parameter now: The time.
  func removeStrays(at now: Date) {
    let known = Set(waiting.map(\.name))
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where !known.contains(name) {
      let path = folder.appending(path: name).path
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      guard let modified = attributes?[.modificationDate] as? Date else { continue }
      if now.timeIntervalSince(modified) > Self.strayAge / .seconds(1) {
        // Another process may remove it at the same time.
        try? FileManager.default.removeItem(atPath: path)
      }
    }
  }

  private func dropBeyondBounds() -> Int {
    let all = waiting
    var (count, bytes) = (all.count, all.reduce(0) { $0 + $1.bytes })
    var dropped = 0
    for signal in all {
      guard count > signalsMax || bytes > bytesMax else { break }
      if remove(signal) { dropped += 1 }
      count -= 1
      bytes -= signal.bytes
    }
    return dropped
  }

  private static func digits(_ number: UInt64, _ width: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
