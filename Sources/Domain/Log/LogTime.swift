import JSON

/// The log time of a record in a file: the CloudEvents extension `rouselogtime`, which `rouse log export` writes. A plan decides at
/// that time, as the planner did. Without it, the log time is the record's own time.
package struct LogTime {
  private static let name: StaticString = "rouselogtime"
  private static let quoted = Array(#""rouselogtime""#.utf8)
  private let reader = JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)

  /// Creates a reader. One thread can use it for many records.
  package init() {}

  /// Reads the log time of a record.
  /// - Parameter json: A CloudEvent in structured mode.
  /// - Returns: The log time; nil if the record states none.
  /// - Throws: `DomainError` if the member is no RFC 3339 date and time.
  package func read(_ json: [UInt8]) throws(DomainError) -> Timestamp? {
    // Most files have no such member, and reading JSON takes a hundred times as long as looking for it.
    guard Self.occurs(in: json.span) else { return nil }
    return try reader.read(json) { (root: JSONNode) throws(DomainError) in try root.instantIfPresent(Self.name) }
  }

  /// Writes the member.
  /// - Parameters:
  ///   - time: The log time; nil writes nothing.
  ///   - writer: The writer, inside of a CloudEvent.
  static func write(_ time: Timestamp?, to writer: inout JSONWriter) {
    if let time { writer.timestamp(name, time) }
  }

  private static func occurs(in json: Span<UInt8>) -> Bool {
    guard json.count >= quoted.count else { return false }
    var at = 0
    while at <= json.count - quoted.count {
      if json[at] == quoted[0] {
        var length = 1
        while length < quoted.count, json[at + length] == quoted[length] { length += 1 }
        if length == quoted.count { return true }
      }
      at += 1
    }
    return false
  }
}
