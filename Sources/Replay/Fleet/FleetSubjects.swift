public import Domain
import JSON
import LineFiles

/// The distinct subjects of the events of a file, in the order of first appearance, grouped by prefix.
public struct FleetSubjects: Equatable, Sendable {
  /// The subjects with one prefix.
  public struct Group: Equatable, Sendable {
    /// The text up to and including the first `/`; empty for subjects without a `/`.
    public var prefix: Identifier
    /// The subjects, in the order of first appearance.
    public var subjects: [Identifier]
  }

  /// The path of the event file, for messages.
  public let path: String
  /// The subjects by prefix, in the order of first appearance.
  public private(set) var groups: [Group] = []
  /// The number of events read, without the skipped lines.
  public private(set) var events = 0
  /// The earliest time of an event; nil if no event has one.
  public private(set) var firstTime: Timestamp?
  /// The number of lines that are not events with a usable subject.
  public private(set) var skipped = 0
  /// The reason why the first of those lines was skipped.
  public private(set) var firstSkipped: String?

  /// The distinct subjects of a fleet's events. Each is kept in memory.
  /// - Beyond: `rouse fleet` refuses the file.
  public static let subjectsMax = 2_000_000

  private var groupOf: [Identifier: Int] = [:]

  /// Reads a whole event file.
  /// - Parameters:
  ///   - eventsPath: The path of CloudEvents in structured mode, one a line: `.jsonl`, `.jsonl.gz`, or `-` for standard
  ///     input.
  ///   - progress: Receives the bytes read and, if known, the size of the file, about every 16,000 lines.
  /// - Throws: `FleetError` if the file cannot be read, has no usable subject, or has more than `subjectsMax`.
  public init(
    eventsPath: String, progress: (_ consumed: Int64, _ total: Int64?) -> Void = { _, _ in }
  ) throws(FleetError) {
    var reader: LineReader
    do throws(LineFileError) { reader = try LineReader(path: eventsPath) } catch { throw .file(error) }
    path = reader.path
    let parser = JSONReader(bytesMax: LineReader.defaultLineBytesMax)
    var seen: Set<Identifier> = []
    var bytes: [UInt8] = []
    while true {
      do throws(LineFileError) {
        guard let line = try reader.next() else { break }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: line)
      } catch {
        guard error.canContinue else { throw .file(error) }
        skip(error.description)
        continue
      }
      if reader.lineNumber % 16_384 == 0 { progress(reader.bytesConsumed, reader.bytesTotal) }
      if bytes.isEmpty { continue }
      do throws(JSONError) {
        try take(bytes, parser, &seen)
      } catch {
        skip("\(path):\(reader.lineNumber): \(error.description)")
      }
      if seen.count > Self.subjectsMax {
        throw .subjects(
          problem: "\(path): more than \(Self.subjectsMax) distinct subjects; draw the fleet from a part of the events")
      }
    }
    if groups.isEmpty { throw .subjects(problem: "\(path): no subject to be interested in\(firstReason)") }
  }

  /// Returns the subjects that begin with a prefix; for an empty prefix, the subjects without a `/`.
  func subjects(beginningWith prefix: Identifier) -> [Identifier] {
    if let index = groupOf[prefix] { return groups[index].subjects }
    if prefix.isEmpty { return [] }
    return groups.flatMap { group in group.subjects.filter { $0.hasPrefix(prefix) } }
  }

  private var firstReason: String { firstSkipped.map { "; first reason: \($0)" } ?? ", the file has no events" }

  private mutating func skip(_ reason: String) {
    skipped += 1
    if firstSkipped == nil { firstSkipped = reason }
  }

  private mutating func take(_ bytes: [UInt8], _ parser: JSONReader, _ seen: inout Set<Identifier>) throws(JSONError) {
    let (subject, time) = try parser.read(bytes) { event throws(JSONError) -> (Identifier, Timestamp?) in
      let node = try event.member("subject", "what the event is about")
      guard (1...DomainBounds.nameBytesMax).contains(node.utf8Count) else {
        _ = try node.string()
        throw node.wrongValue("1 to \(DomainBounds.nameBytesMax) bytes")
      }
      return (Identifier(try node.string()), event.optional("time")?.stringIfAny.flatMap { Timestamp(rfc3339: $0) })
    }
    events += 1
    if let time { firstTime = min(firstTime ?? time, time) }
    guard seen.insert(subject).inserted else { return }
    let prefix = subject.utf8.firstIndex(of: UInt8(ascii: "/")).map { Identifier(decoding: subject.utf8[...$0]) } ?? ""
    if let index = groupOf[prefix] {
      groups[index].subjects.append(subject)
    } else {
      groupOf[prefix] = groups.count
      groups.append(Group(prefix: prefix, subjects: [subject]))
    }
  }
}
