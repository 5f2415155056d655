public import Domain
import GRDB

/// The things that a store has under a text: those with exactly this id, and those whose id begins with it.
public struct SearchFindings: Equatable, Sendable {
  /// The sorts of things.
  public enum FoundThing: Hashable, Sendable {
    case device(Identifier), event(Identifier), command(Identifier), decision(Identifier), kind(Identifier)
  }

  /// The things with exactly this id.
  public var exact: [FoundThing] = []
  /// Devices, events and kinds whose id begins with the text and is longer, among the newest decisions; kinds first.
  public var prefixed: [FoundThing] = []
  /// Whether `prefixed` leaves some out, because there are too many or because older decisions were not read.
  public var isBounded = false
}

extension AuditStore {
  /// The most pages that are searched for ids that begin with a text: the newest 65,000 decisions.
  /// - Beyond: older decisions are not searched.
  static let searchedPagesMax = 128

  /// Finds devices, events, commands, decisions and kinds by their id. Exact ids are found in the whole store, beginnings of ids among the
  /// newest decisions.
  /// - Parameters:
  ///   - text: The id or its beginning.
  ///   - limit: The greatest number of beginnings to return of each sort.
  /// - Throws: `AuditError` when the file cannot be read.
  public func search(_ text: Identifier, limit: Int = 20) throws(AuditError) -> SearchFindings {
    var found = SearchFindings()
    if try decision(text) != nil { found.exact.append(.decision(text)) }
    try read { db in
      let words = WordReader(db)
      if try db.command(id: text, words: words) != nil { found.exact.append(.command(text)) }
      if try db.isKnown(device: text, words: words) { found.exact.append(.device(text)) }
      if try db.isKnown(event: text, words: words) { found.exact.append(.event(text)) }
      var prefixes = PrefixSearch(text, limit: limit)
      try prefixes.read(db, words)
      found.exact += prefixes.exactKinds.map { .kind($0) }
      found.prefixed = prefixes.findings
      found.isBounded = prefixes.isBounded
    }
    return found
  }
}

/// Looks for ids that begin with a text.
private struct PrefixSearch {
  let prefix: [UInt8]
  let limit: Int
  private var devices: Set<[UInt8]> = []
  private var events: Set<[UInt8]> = []
  private var kinds: [Identifier] = []
  private(set) var exactKinds: [Identifier] = []
  private(set) var isBounded = false

  init(_ text: Identifier, limit: Int) {
    prefix = Array(text.utf8)
    self.limit = limit
  }

  mutating func read(_ db: Database, _ words: WordReader) throws {
    // The table of counts names every kind, and has few rows for each.
    for n in try Int64.fetchAll(db, sql: "SELECT DISTINCT kind FROM tally") {
      let kind = try words.word(n)
      guard kind.utf8.starts(with: prefix) else { continue }
      if kind.utf8.count == prefix.count { exactKinds.append(kind) } else { kinds.append(kind) }
    }
    kinds.sort()
    let pages = try Row.fetchCursor(
      db, sql: "SELECT body FROM page ORDER BY seq DESC LIMIT ?", arguments: [AuditStore.searchedPagesMax + 1])
    var pagesRead = 0
    while let page = try pages.next() {
      pagesRead += 1
      guard pagesRead <= AuditStore.searchedPagesMax, devices.count < limit || events.count < limit else {
        isBounded = true
        return
      }
      var reader = try PageReader(try page.bytes(0), words: words)
      while try reader.next() { add(reader) }
    }
  }

  private mutating func add(_ line: borrowing PageReader) {
    if line.device.count > prefix.count, line.device.starts(with: prefix) {
      if devices.count < limit {
        devices.insert(line.device)
      } else if !devices.contains(line.device) {
        isBounded = true
      }
    }
    if line.event.count > prefix.count, line.event.starts(with: prefix) {
      if events.count < limit { events.insert(line.event) } else if !events.contains(line.event) { isBounded = true }
    }
  }

  var findings: [SearchFindings.FoundThing] {
    kinds.prefix(limit).map { .kind($0) } + devices.map { Identifier(decoding: $0) }.sorted().map { .device($0) }
      + events.map { Identifier(decoding: $0) }.sorted().map { .event($0) }
  }
}
