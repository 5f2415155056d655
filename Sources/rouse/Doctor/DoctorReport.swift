import Domain
import Foundation
import JSON
import Operating

/// The findings of `rouse doctor`, as text and as JSON.
struct DoctorReport {
  private let facts: DoctorFacts
  /// The findings, the worst first.
  let findings: [Finding]

  /// The page that explains each code.
  static let page = "Runbook.md"

  /// Makes the report.
  init(_ facts: DoctorFacts) {
    self.facts = facts
    findings = facts.findings
  }

  /// Returns the number of findings of a severity.
  func count(_ severity: FindingSeverity) -> Int { findings.count { $0.severity == severity } }

  /// Whether the command exits with 1.
  /// - Parameter strict: Whether warnings count, too.
  func isFailure(strict: Bool) -> Bool { count(.wrong) > 0 || strict && !findings.isEmpty }

  /// The checks that had nothing to look at, each with the reason.
  private var blind: [(name: String, reason: String)] {
    if facts.settings.refusal != nil { return [("everything else", "the settings cannot be used")] }
    var blind: [(String, String)] = []
    if facts.cluster == nil {
      let reason = facts.brokerFailure == nil ? "the way to the brokers is not known" : "no broker answers"
      blind += ["topics", "access", "lag", "clock of the brokers"].map { ($0, reason) }
    } else if facts.cluster?.clock == nil {
      blind.append(("clock of the brokers", "no record with the broker's time was seen"))
    }
    if facts.processes.allSatisfy({ $0.status == nil }) {
      blind += ["processes", "policy"].map { ($0, "no process answered") }
    }
    if facts.store == nil { blind.append(("audit", "the settings have no role audit")) }
    return blind
  }

  // MARK: Text

  private static let width = 100
  private static let indent = "         "

  /// A block for each finding, and a line at the end.
  var text: PrintableText {
    var text: PrintableText = ""
    for finding in findings { text += block(finding) + "\n" }
    return text + "\(summary)\n"
  }

  private func block(_ finding: Finding) -> PrintableText {
    let words = finding.code.meaning
    var block: PrintableText =
      "\(finding.severity.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0))\(finding.code.rawValue): \(words.title)\n"
    for place in finding.places.prefix(Finding.placesMax) { block += "           \(place)\n" }
    if finding.places.count > Finding.placesMax {
      block += "           and \(finding.places.count - Finding.placesMax) more\n"
    }
    for line in Self.wrapped("Means: " + Self.plain(words.meaning)) + Self.wrapped("Do: " + advice(finding)) {
      block += "\(Self.indent)\(line)\n"
    }
    return block
  }

  private func advice(_ finding: Finding) -> String { Self.plain(finding.code.advice(facts.options)) }

  /// Returns a text with its links as words.
  private static func plain(_ text: String) -> String {
    text.replacing(#/\[([^\]]+)\]\(([A-Za-z]+\.md)[^)]*\)/#) { match in
      match.1 + ".md" == match.2 ? "the page \(match.2)" : "\"\(match.1)\" (\(match.2))"
    }
  }

  /// Returns the lines of a text. A command in backticks stays on one line, so that it can be copied.
  private static func wrapped(_ text: String) -> [String] {
    var isCommand = false
    let joined = text.map { character -> Character in
      if character == "`" { isCommand.toggle() }
      return character == " " && isCommand ? "\u{A0}" : character
    }
    var lines: [String] = [""]
    for part in String(joined).split(separator: " ") {
      let (last, word) = (lines[lines.count - 1], String(part.map { $0 == "\u{A0}" ? " " : $0 }))
      if !last.isEmpty, last.count + 1 + word.count > width - indent.count {
        lines.append(word)
      } else {
        lines[lines.count - 1] = last.isEmpty ? word : "\(last) \(word)"
      }
    }
    return lines
  }

  /// The result in one line.
  var summary: PrintableText {
    let (wrong, warnings) = (count(.wrong), count(.warning))
    let result =
      findings.isEmpty
      ? "nothing found" : "\(wrong) wrong, \(Digits.count(warnings, "warning")); \(Self.page) explains each code"
    let reasons = blind.reduce(into: [(reason: String, names: [String])]()) { groups, blind in
      if let index = groups.firstIndex(where: { $0.reason == blind.reason }) {
        groups[index].names.append(blind.name)
      } else {
        groups.append((blind.reason, [blind.name]))
      }
    }
    let notes = reasons.map { "\($0.names.joined(separator: ", ")) (\($0.reason))" }.joined(separator: "; ")
    return "\(result)\(notes.isEmpty ? "" : ". Not looked at: \(notes)")"
  }

  // MARK: JSON

  /// One object with all findings.
  var json: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("wrong", count(.wrong))
      json.member("warnings", count(.warning))
      json.objects("findings", findings) { finding, json in
        json.member("code", finding.code.rawValue)
        json.member("severity", finding.severity.rawValue)
        json.member("title", finding.code.meaning.title)
        json.list("places", finding.places)
        json.member("meaning", Self.plain(finding.code.meaning.meaning))
        json.member("advice", advice(finding))
      }
      json.objects("notLookedAt", blind) { blind, json in
        json.member("check", blind.name)
        json.member("reason", blind.reason)
      }
    }
    return json.bytes
  }
}
