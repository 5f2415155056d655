public import Domain
import Foundation
import JSON
public import Logging
import Synchronization

/// Writes each log line as one JSON object, for programs that collect logs.
///
/// An object begins with `time` (RFC 3339, UTC), `level`, `label` and `message`. The metadata follow as members of their
/// own, in the order of their keys. A key of the metadata that has one of these four names begins with `metadata.`, so that a
/// value from outside cannot pass for them. Values are texts, lists or objects, as the metadata has them; an error is the
/// text `error.message`. A control character in a value is an escape of JSON, so it cannot begin another line.
///
/// Lines of all threads are written one after the other.
public struct JSONLogHandler: LogHandler {
  /// The lowest level that is logged.
  public var logLevel = Logger.Level.info
  /// The metadata of every line.
  public var metadata: Logger.Metadata = [:]

  private let label: String
  private let now: @Sendable () -> Timestamp
  private let write: @Sendable ([UInt8]) -> Void

  /// The members that every line has.
  private static let ownKeys: Set<String> = ["time", "level", "label", "message"]
  private static let turn = Mutex(())

  /// Makes a handler.
  ///
  /// - Parameters:
  ///   - label: The label of the logger.
  ///   - now: Returns the time of a line.
  ///   - write: Writes one JSON object as a line. Calls never overlap.
  public init(
    label: String, now: @escaping @Sendable () -> Timestamp = { Self.wallClock },
    write: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.label = label
    self.now = now
    self.write = write
  }

  /// The machine's time, to the millisecond.
  public static var wallClock: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

  /// The value that every line has as metadata under a key.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes an event. Its metadata take precedence over those of the handler.
  public func log(event: LogEvent) {
    var metadata = metadata
    if let more = event.metadata { metadata.merge(more) { $1 } }
    if let error = event.error, metadata["error.message"] == nil { metadata["error.message"] = "\(error)" }
    var json = JSONWriter()
    json.beginObject()
    json.member("time", now().description)
    json.member("level", event.level.rawValue)
    json.member("label", label)
    json.member("message", event.message.description)
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      json.key(Self.ownKeys.contains(key) ? "metadata.\(key)" : key)
      Self.write(value, to: &json)
    }
    json.endObject()
    let line = json.bytes
    Self.turn.withLock { _ in write(line) }
  }

  private static func write(_ value: Logger.Metadata.Value, to json: inout JSONWriter) {
    switch value {
    case .string(let text): json.string(text)
    case .stringConvertible(let value): json.string("\(value)")
    case .array(let values):
      json.beginArray()
      for value in values { write(value, to: &json) }
      json.endArray()
    case .dictionary(let values):
      json.beginObject()
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        json.key(key)
        write(value, to: &json)
      }
      json.endObject()
    }
  }
}
