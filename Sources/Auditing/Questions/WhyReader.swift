import Domain
import GRDB

/// Answers one `WhyQuestion` within one read.
struct WhyReader {
  let db: Database
  let names: NameReader
  let question: WhyQuestion

  /// Returns the answer: its stories, or remarks if there is none.
  /// - Throws: `StoredValueError`, or an error of SQLite.
  func answer() throws -> WhyAnswer {
    var answer = WhyAnswer(
      question: question, event: question.event, deviceIsKnown: false, eventIsKnown: false, stories: [], remarks: [])
    let device = try names.number(question.device, in: .device)
    var event = try question.event.flatMap { try names.number($0, in: .event) }
    answer.deviceIsKnown = device != nil
    if let device {
      if question.event == nil, let latest = try latestEvent(of: device) {
        event = latest
        answer.event = try names.event(latest)
      }
      if let event { answer.stories = try stories(event: event, device: device) }
    }
    answer.eventIsKnown = event != nil
    if answer.stories.isEmpty { answer.remarks = try remarks(device: device, event: event) }
    return answer
  }

  /// Returns the number of the event of the newest decision up to the moment of the question; nil if there is none.
  private func latestEvent(of device: Int64) throws -> Int64? {
    let range = TimeRange(to: question.at.map { $0 + TimeSpan(microseconds: 1) })
    return try db.decisions(ofDevice: device, in: range).last { try isWanted($0) }?.event
  }

  /// Whether a decision is about an instance and a kind in question.
  private func isWanted(_ row: DecisionRow) throws -> Bool {
    guard question.instance != nil || question.kind != nil else { return true }
    let instance = try names.instance(row.instance)
    return (question.instance ?? instance.id) == instance.id && (question.kind ?? instance.kind) == instance.kind
  }

  private func stories(event: Int64, device: Int64) throws -> [WhyAnswer.Story] {
    let rows = try db.decisions(ofDevice: device, in: .all) { $0.event == event }.filter { try isWanted($0) }
    var byInstance: [Int64: [DecisionRow]] = [:]
    for row in rows { byInstance[row.instance, default: []].append(row) }
    let stories = try byInstance.values.map { try story($0.map { try $0.decision(names) }) }
    return stories.sorted { ($0.kind, $0.instance, $0.surface.code) < ($1.kind, $1.instance, $1.surface.code) }
  }

  private func story(_ decisions: [Decision]) throws -> WhyAnswer.Story {
    let steps = decisions.map {
      WhyAnswer.Step(
        decision: $0, explanation: ReasonText.explanation($0), counterfactual: ReasonText.counterfactual($0))
    }
    // A decision about a repeated event changes nothing: the decision before it holds.
    let last = decisions.last { $0.reason != .duplicate } ?? decisions[decisions.count - 1]
    let id = decisions.last { $0.command != nil }?.command
    let command = try id.flatMap { try db.command(id: $0, names: names) }
    let charges = (command?.charged ?? []).map {
      WhyAnswer.ChargeEffect(ledger: $0.ledger, owner: $0.owner, before: $0.left.addingSaturating(1), after: $0.left)
    }
    return WhyAnswer.Story(
      instance: last.instance, kind: last.kind, surface: last.surface, steps: steps, command: command, charges: charges,
      outcome: outcome(decisions, last: last, id: id, command: command))
  }

  /// The outcome of a story in one sentence.
  /// - Parameters:
  ///   - decisions: the decisions of the story, oldest first.
  ///   - last: the last of them.
  ///   - id: the command that a decision names.
  ///   - command: that command, if it is stored.
  private func outcome(_ decisions: [Decision], last: Decision, id: Identifier?, command: Command?) -> String {
    let waited = last.at - decisions[0].at
    let span = Figure.span(waited)
    guard last.final else { return "still waiting: \(ReasonText.explanation(last))" }
    if let id {
      let stored =
        command == nil ? " (the store does not hold the command itself: it has not arrived yet, or was removed)" : ""
      let after = waited > .zero ? " after \(span)" : ""
      return "shown\(after) by command \(id)\(stored): \(ReasonText.explanation(last))"
    }
    let reason = decisions.last { $0.reason.holdsBack }.map { " (\($0.reason.rawValue))" } ?? ""
    let waiting = waited > .zero ? "; it waited \(span)\(reason)" : ""
    return "not shown by a push\(waiting): \(ReasonText.explanation(last))"
  }

  /// Returns sentences about the device and the event, for an answer without a story.
  /// - Parameters:
  ///   - device: the number of the device; nil if it is not known.
  ///   - event: the number of the event; nil if it is not known.
  private func remarks(device: Int64?, event: Int64?) throws -> [String] {
    var remarks: [String] = []
    if let device {
      let rows = try db.decisions(ofDevice: device, in: .all)
      if let first = rows.first, let last = rows.last {
        remarks.append(
          "device \(question.device) is known: \(Figure.count(rows.count, "decision")) from"
            + " \(Figure.time(Timestamp(microseconds: first.at))) to \(Figure.time(Timestamp(microseconds: last.at)))")
        try remarkOnInstances(rows, to: &remarks)
      } else {
        remarks.append("device \(question.device) is known, but its decisions are no longer stored")
      }
    } else {
      remarks.append(
        "device \(question.device) is not known: no event ever reached it, or its decisions were removed by age")
    }
    if let name = question.event {
      remarks += try remarksOn(event: event, name: name, deviceIsKnown: device != nil)
    }
    if let row = try Row.fetchOne(db, sql: "SELECT min(atMin), max(atMax) FROM block"),
      let first = try row.optionalInteger(0),
      let last = try row.optionalInteger(1)
    {
      remarks.append(
        "the store holds decisions from \(Figure.time(Timestamp(microseconds: first)))"
          + " to \(Figure.time(Timestamp(microseconds: last)))")
    } else {
      remarks.append("the store is empty")
    }
    return remarks
  }

  /// Adds a remark that lists the device's instances, if no decision is about the instance and kind in question.
  private func remarkOnInstances(_ rows: [DecisionRow], to remarks: inout [String]) throws {
    guard question.instance != nil || question.kind != nil, try !rows.contains(where: { try isWanted($0) }) else {
      return
    }
    let seen = try Set(rows.map(\.instance)).map { try names.instance($0) }
    let list = seen.map { "\($0.kind) \($0.id)" }.sorted().prefix(8).joined(separator: ", ")
    remarks.append("no decision names that instance or kind; the device's instances are: \(list)")
  }

  private func remarksOn(event: Int64?, name: Identifier, deviceIsKnown: Bool) throws -> [String] {
    guard let event else {
      return [
        "event \(name) is not known: it was not published, was refused (see the dead letters), interested no device,"
          + " or was removed by age"
      ]
    }
    let row = try Row.fetchOne(
      db, sql: "SELECT count(*), count(DISTINCT device), min(at) FROM decision WHERE event = ?", arguments: [event])
    let (count, devices) = (try row?.integer(0, as: Int.self) ?? 0, try row?.integer(1, as: Int.self) ?? 0)
    var remarks = ["event \(name) is known: \(Figure.count(count, "decision")) on \(Figure.count(devices, "device"))"]
    if let at = try row?.optionalInteger(2) {
      remarks[0] += ", the first at \(Figure.time(Timestamp(microseconds: at)))"
    }
    if deviceIsKnown {
      remarks.append(
        "at that time no instance in question was interested in the event's keys, no rule made a key for it,"
          + " or the device was not registered yet")
    }
    return remarks
  }
}
