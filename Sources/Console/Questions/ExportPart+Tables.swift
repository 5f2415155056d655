import Auditing
import Domain
import Installation
import Operating

/// An account of a statement: a ledger with its owner.
struct StatementAccount: Sendable {
  /// The kind of ledger.
  var ledger: Command.Ledger
  var owner: Identifier
}

extension ExportStream.ExportPart {
  /// The rows of a part. As many are in memory for an export.
  private static let rowsMax = ConsoleRoute.limitMax
  /// The dead letters of a part. They are read with their values, of up to 256 KiB each.
  private static let lettersMax = 250

  /// Makes a part of a table in CSV.
  ///
  /// - Parameters:
  ///   - table: The rows.
  ///   - isFirst: Whether the line with the names of the columns comes before them.
  ///   - next: Reads the part behind; nil at the end.
  private init(_ table: AnswerTable, isFirst: Bool, next: ExportStream.Reading?) {
    self.init(bytes: isFirst ? table.csv : table.csvRows, next: next)
  }

  /// Returns the reading of the part behind a place; nil if there is no such place.
  private static func behind<Place: Sendable>(
    _ place: Place?, _ read: @escaping @Sendable (Place, ConsoleContext) throws -> Self
  ) -> ExportStream.Reading? {
    guard let place else { return nil }
    return { context in try read(place, context) }
  }

  /// Reads the records of a range of the whole store, in the order of storing.
  ///
  /// - Parameters:
  ///   - range: The range of log time.
  ///   - form: Lines of JSON, or CSV.
  ///   - place: The place behind the part before; nil for the first part.
  ///   - context: The context of the reader.
  static func records(
    _ range: TimeRange, _ form: AnswerForm, from place: Int64? = nil, _ context: ConsoleContext
  ) throws -> Self {
    let step = try context.store().exportStep(range, from: place ?? 0)
    let next = behind(step.next) { try records(range, form, from: $0, $1) }
    if form == .csv { return Self(AnswerTable(step.entries), isFirst: place == nil, next: next) }
    return Self(bytes: QuestionAnswer.lines(step.entries), next: next)
  }

  /// Reads the decisions about a device and its pushes as CSV, newest first.
  static func timeline(
    _ device: Identifier, _ range: TimeRange, after moment: PageCursor.Moment? = nil, _ context: ConsoleContext
  ) throws -> Self {
    let (found, next) = try context.store().timeline(device, range, limit: rowsMax, after: moment)
    return Self(
      AnswerTable(found.entries.reversed()), isFirst: moment == nil,
      next: behind(next) { try timeline(device, range, after: $0, $1) })
  }

  /// Reads the charges of a device's accounts as CSV, newest first.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - range: The range of log time.
  ///   - account: The account; nil for all of them.
  ///   - place: The place before which the part ends; nil for the newest part.
  ///   - context: The context of the reader.
  static func statement(
    _ device: Identifier, _ range: TimeRange, of account: StatementAccount? = nil, before place: StatementPlace? = nil,
    _ context: ConsoleContext
  ) throws -> Self {
    var found = try context.store().statement(device, range: range, limit: rowsMax, before: place)
    if let account { found.accounts.removeAll { $0.ledger != account.ledger || $0.owner != account.owner } }
    return Self(
      AnswerTable(newestFirst: found), isFirst: place == nil,
      next: behind(found.begin) { try statement(device, range, of: account, before: $0, $1) })
  }

  /// Reads decisions as CSV, newest first.
  static func decisions(
    _ filter: DecisionFilter, after place: DecisionPlace?, isFirst: Bool = true, _ context: ConsoleContext
  ) throws -> Self {
    let part = try context.store().decisions(filter, order: .newest, after: place, limit: rowsMax)
    return Self(
      AnswerTable(part.decisions.map { .decision($0.decision) }), isFirst: isFirst,
      next: behind(part.next) { try decisions(filter, after: $0, isFirst: false, $1) })
  }

  /// Reads dead letters as CSV, newest first.
  ///
  /// - Parameters:
  ///   - reason: The reason of the letters; nil for every one.
  ///   - left: The number of letters that may still come.
  ///   - place: The place behind the part before; nil for the first part.
  ///   - context: The context of a reader that may wait for the cluster.
  static func deadLetters(
    _ reason: String?, left: Int, after place: DeadLetterCursor? = nil, _ context: ConsoleContext
  ) throws -> Self {
    let page = try context.deadLetters { try $0.page(min(left, lettersMax), reason: reason, from: place) }
    let rest = left - page.letters.count
    return Self(
      ConsoleRoute.table(context.concealed(page.letters)), isFirst: place == nil,
      next: behind(rest > 0 ? page.next : nil) { try deadLetters(reason, left: rest, after: $0, $1) })
  }
}
