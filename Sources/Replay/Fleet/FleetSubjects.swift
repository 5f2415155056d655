public import Domain
import JSON
import LineFiles

/// What the events of a file are about: each distinct subject, in order of first appearance, grouped by prefix.
public struct FleetSubjects: Equatable, Sendable {
  /// Subjects whose text up to and with the first `/` is the same; without any `/` the prefix is empty.
  public struct Group: Equatable, Sendable {
    public var prefix: String
    public var subjects: [String]
  }

  /// The file, for messages.
  public let path: String
  /// In order of first appearance.
  public private(set) var groups: [Group] = []
  /// Events read, without the skipped lines.
  public private(set) var events = 0
  /// The earliest `time`; nil where no event has one.
  public private(set) var firstTime: Timestamp?
  /// Lines that are no events with a usable subject, and why the first of them is not.
  public private(set) var skipped = 0
  public private(set) var firstSkipped: String?

  /// Distinct subjects; more is refused, because each is kept in memory.
  public static let subjectsMax = 2_000_000

  private var groupOf: [String: Int] = [:]

  /// Reads all of an event file: CloudEvents in structured mode, one per line, plain or gzip, `-` for standard input.
  /// `progress` is told bytes read and, where known, bytes in all, now and then.
  public init(
    eventsPath: String, progress: (_ consumed: Int64, _ total: Int64?) -> Void = { _, _ in }
  ) throws(FleetError) {
    var reader: LineReader
    do throws(LineFileError) { reader = try LineReader(path: eventsPath) } catch { throw .file(error) }
    path = reader.path
    let parser = JSONReader(bytesMax: LineReader.defaultLineBytesMax)
    var seen: Set<String> = []
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

  /// The subjects that begin with `prefix`; for an empty prefix those without a `/`.
  func subjects(beginningWith prefix: String) -> [String] {
    if let index = groupOf[prefix] { return groups[index].subjects }
    if prefix.isEmpty { return [] }
    return groups.flatMap { group in group.subjects.filter { $0.utf8.starts(with: prefix.utf8) } }
  }

  private var firstReason: String { firstSkipped.map { "; first reason: \($0)" } ?? ", the file has no events" }

  private mutating func skip(_ reason: String) {
    skipped += 1
    if firstSkipped == nil { firstSkipped = reason }
  }

  private mutating func take(_ bytes: [UInt8], _ parser: JSONReader, _ seen: inout Set<String>) throws(JSONError) {
    let (subject, time) = try parser.read(bytes) { event throws(JSONError) -> (String, Timestamp?) in
      let node = try event.member("subject", "what the event is about")
      guard (1...DomainBounds.nameBytesMax).contains(node.utf8Count) else {
        _ = try node.string()
        throw node.wrongValue("1 to \(DomainBounds.nameBytesMax) bytes")
      }
      return (try node.string(), event.optional("time")?.stringIfAny.flatMap { Timestamp(rfc3339: $0) })
    }
    events += 1
    if let time { firstTime = min(firstTime ?? time, time) }
    guard seen.insert(subject).inserted else { return }
    let prefix = subject.firstIndex(of: "/").map { String(subject[...$0]) } ?? ""
    if let index = groupOf[prefix] {
      groups[index].subjects.append(subject)
    } else {
      groupOf[prefix] = groups.count
      groups.append(Group(prefix: prefix, subjects: [subject]))
    }
  }
}
