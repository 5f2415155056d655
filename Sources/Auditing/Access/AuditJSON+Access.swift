public import Domain
import JSON

extension AuditJSON {
  /// Returns access records as JSON.
  public static func render(_ records: [AccessRecord]) -> String {
    var writer = JSONWriter()
    writer.object { json in
      json.objects("records", records) { record, json in
        json.time("at", record.at)
        json.member("key", record.key?.text)
        json.member("operation", record.operation)
        json.member("device", record.device?.text)
        json.member("event", record.event?.text)
        json.member("subject", record.subject?.text)
        json.member("status", record.status)
        json.member("client", record.client?.text)
        guard let refused = record.refused else { return }
        json.member("refused", refused)
        json.member("count", record.count)
      }
    }
    return writer.indentedText
  }
}

extension AnswerTable {
  /// Makes a table of access records.
  public init(_ records: [AccessRecord]) {
    self.init(
      ["at", "key", "operation", "device", "event", "subject", "status", "client", "refused", "count"],
      records.map {
        [
          .time($0.at), .text($0.key), .text($0.operation), .text($0.device), .text($0.event), .text($0.subject),
          .integer($0.status), .text($0.client), .text($0.refused), .integer($0.count),
        ]
      })
  }
}

extension AuditText {
  /// Returns access records as a table for people, the newest first.
  public static func render(_ records: [AccessRecord]) -> PrintableText {
    var lines: PrintableText = ""
    for record in records {
      lines += "\(Figure.time(record.at))  \(record.status)  \(record.operation)  key \(record.key ?? "none")"
      lines += "  from \(record.client ?? "nowhere")"
      if let refused = record.refused {
        lines += "  refused \(refused), \(record.count == 1 ? "once" : "\(record.count) times")"
      }
      if let device = record.device { lines += "  device \(device)" }
      if let event = record.event { lines += "  event \(event)" }
      if let subject = record.subject { lines += "  about \(subject)" }
      lines += "\n"
    }
    return lines
  }
}
