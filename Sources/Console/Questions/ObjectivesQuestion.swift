import Auditing
import Domain
import JSON
import Keys
import Logging
import Policies
import Serving
import Synchronization

/// The question how many of the missed changes of objectives no reloads could have shown, as `rouse audit objectives` answers it.
///
///     decisions of the store, page by page ──► time zones of the sampled devices ──► best schedules ──► answer
///
/// All decisions of the range are read, which takes long on the store of a fleet. So the parts are made as those of an export, and readers
/// answer others between them.
final class ObjectivesQuestion: Sendable {
  /// The most instances that are compared.
  /// - Beyond: further instances are left out, and the answer says that it is not complete.
  static let instancesMax = 50_000
  /// The most changes of all instances, those that wait included: 24 bytes each, and an entry of a dictionary while it waits.
  /// - Beyond: further changes are left out, and the answer says that it is not complete.
  static let changesMax = 1_000_000
  /// The instances that one part compares with their best schedules.
  private static let instancesOfPart = 500
  /// The devices whose time zones one part looks up.
  private static let devicesOfPart = 500

  /// The time zones by which the budget days of devices are counted.
  private enum Zones: String { case registered, utc }

  private let policy: PolicyReference
  private let share: Double
  private let range: TimeRange
  private let form: AnswerForm
  private let comparison: Mutex<any ObjectiveComparison>

  /// Prepares the question.
  ///
  /// - Parameters:
  ///   - policy: The policy in force.
  ///   - comparison: The comparison of its objectives, which has taken nothing.
  ///   - share: The share of the devices to compare, above 0 and at most 1.
  ///   - range: The range of log time.
  ///   - form: The form of the answer.
  init(
    _ policy: PolicyReference, _ comparison: any ObjectiveComparison, share: Double, _ range: TimeRange,
    _ form: AnswerForm
  ) {
    self.policy = policy
    (self.share, self.range, self.form) = (share, range, form)
    self.comparison = Mutex(comparison)
  }

  /// Reads the next decisions.
  ///
  /// - Parameters:
  ///   - place: The place behind the part before; 0 for the first part.
  ///   - context: The context of the reader.
  func read(from place: Int64 = 0, _ context: ConsoleContext) throws -> ExportStream.ExportPart {
    let step = try context.store().exportStep(range, from: place)
    let devices = comparison.withLock { comparison -> Set<Identifier> in
      for case .decision(let decision) in step.entries { comparison.take(decision) }
      return step.next == nil ? comparison.devices : []
    }
    guard let next = step.next else { return try findZones(Array(devices)[...], context) }
    return ExportStream.ExportPart(bytes: []) { [self] context in try read(from: next, context) }
  }

  /// Looks up the time zones of devices.
  private func findZones(_ devices: ArraySlice<Identifier>, _ context: ConsoleContext) throws -> ExportStream.ExportPart
  {
    guard let known = context.settings.devices else { return score(.utc) }
    do throws(ListeningDevicesError) {
      let found = try known.registrations(of: Array(devices.prefix(Self.devicesOfPart)))
      // A view that is still being filled lacks some.
      guard found.ageSeconds != nil else { return score(.utc) }
      comparison.withLock { comparison in for registration in found.registrations { comparison.take(registration) } }
    } catch {
      // All days are those of UTC then, and the answer says so.
      context.logger.warning("time zones of devices are not known", metadata: ["error": "\(error)"])
      return score(.utc)
    }
    let rest = devices.dropFirst(Self.devicesOfPart)
    if rest.isEmpty { return score(.registered) }
    return ExportStream.ExportPart(bytes: []) { [self] context in try findZones(rest, context) }
  }

  /// Compares the next instances with their best schedules, and ends with the answer.
  private func score(_ zones: Zones) -> ExportStream.ExportPart {
    let isDone = comparison.withLock { comparison in
      if zones == .utc { comparison.forgetZones() }
      return comparison.score(Self.instancesOfPart)
    }
    if isDone { return ExportStream.ExportPart(bytes: answer(zones), next: nil) }
    return ExportStream.ExportPart(bytes: []) { [self] _ in score(zones) }
  }

  private func answer(_ zones: Zones) -> [UInt8] {
    let (results, isComplete, encode) = comparison.withLock { ($0.comparedObjectives(), $0.isComplete, $0.encoding()) }
    guard form == .json else {
      let table = table(results, zones, isComplete)
      return form == .csv ? table.csv : table.jsonLines
    }
    var json = JSONWriter()
    json.object { json in
      json.key("policy")
      json.object { json in
        json.member("version", policy.version)
        json.member("hash", policy.hash)
      }
      json.member("sample", share)
      json.member("zones", zones.rawValue)
      json.member("complete", isComplete)
      encode(&json)
    }
    return PrintableJSON.escape(json.bytes) + [10]
  }

  private func table(
    _ results: [(kind: Identifier, objective: ComparedObjective)], _ zones: Zones, _ isComplete: Bool
  ) -> AnswerTable {
    var table = AnswerTable(
      [
        "kind", "freshWithinSeconds", "share", "wrongAtLeast", "instances", "changes", "met", "possible", "avoidable",
        "unavoidable", "sample", "zones", "complete", "policyVersion", "policyHash",
      ], [])
    for (kind, objective) in results {
      var row: [AnswerTable.Cell] = [.text(kind.text), .number(Double(objective.freshWithin.microseconds) / 1e6)]
      row += [.number(objective.share), .number(objective.wrongAtLeast)]
      let counts = [objective.instances, objective.changes, objective.met, objective.possible]
      row += counts.map { .integer($0) }
      row += [.integer(objective.possible - objective.met), .integer(objective.changes - objective.possible)]
      row += [.number(share), .text(zones.rawValue), .bool(isComplete)]
      row += [.text(policy.version.text), .text(policy.hash.text)]
      table.rows.append(row)
    }
    return table
  }
}

extension ConsoleRoute {
  /// The operation on objectives.
  static let objectives = ConsoleRoute(
    "getObjectives", "GET", "/v1/objectives", role: .auditor, usesCluster: true
  ) { request, context in
    var query = QueryReader(request.query)
    let form = try AnswerForm.asked(request, &query, of: [.json, .csv, .ndjson])
    let share = query.share("sample", default: 0.01)
    let range = query.range()
    try query.finish()
    guard let policy = try activeDocument(context)?.policy else {
      throw Problem(.conflict, "the log has no policy, so no kind has an objective; apply one first")
    }
    guard policy.kinds.contains(where: { $0.objective != nil }) else {
      throw Problem(.conflict, "no kind of the policy \(policy.reference.version) has an objective")
    }
    _ = try context.store()
    let comparison = context.settings.objectives(
      policy, share, ObjectivesQuestion.instancesMax, ObjectivesQuestion.changesMax)
    let question = ObjectivesQuestion(policy.reference, comparison, share: share, range, form)
    return HTTPAnswer(
      status: 200, contentType: form.contentType, headers: HTTPAnswer.dataHeaders(form, name: "objectives"),
      stream: try ExportStream.start(context.storeReaders) { try question.read($0) })
  }
}
