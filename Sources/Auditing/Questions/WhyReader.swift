import Domain
import GRDB

/// Answers one `WhyQuestion` within one read.
struct WhyReader {
  let db: Database
  let words: WordReader
  let question: WhyQuestion

  /// Returns the answer: its stories, or remarks if there is none.
  /// - Throws: `StoredValueError`, or an error of SQLite.
  func answer() throws -> WhyAnswer {
    var answer = WhyAnswer(
      question: question, event: question.event, deviceIsKnown: false, eventIsKnown: false, stories: [], remarks: [])
    if let event = question.event {
      answer.stories = try stories(event: event)
      if !answer.stories.isEmpty {
        (answer.deviceIsKnown, answer.eventIsKnown) = (true, true)
        return answer
      }
    }
    let seen = try deviceFacts()
    answer.deviceIsKnown = try seen.decisions > 0 || db.isKnown(device: question.device, words: words)
    if question.event == nil {
      answer.event = seen.latestEvent
      if let event = answer.event { answer.stories = try stories(event: event) }
    }
    answer.eventIsKnown =
      try !answer.stories.isEmpty || answer.event.map { try db.isKnown(event: $0, words: words) } ?? false
    if answer.stories.isEmpty { answer.remarks = try remarks(seen, deviceIsKnown: answer.deviceIsKnown) }
    return answer
  }

  /// The facts that the store has about the device in question.
  private struct DeviceFacts {
    var decisions = 0
    var first: Int64 = .max
    var last: Int64 = .min
    /// The kinds and ids of the instances, and whether one of them is in question.
    var instances: Set<[Identifier]> = []
    var isAnyWanted = false
    /// The event of the newest decision up to the moment of the question.
    var latestEvent: Identifier?
  }

  /// Reads the decisions about the device.
  private func deviceFacts() throws -> DeviceFacts {
    var facts = DeviceFacts()
    var latest: AnswerPlace?
    let range = TimeRange(to: question.at.map { $0 + TimeSpan(microseconds: 1) })
    try db.scan(.device, question.device, words: words) { line in
      let place = AnswerPlace(line, count: facts.decisions)
      facts.decisions += 1
      facts.first = min(facts.first, line.at)
      facts.last = max(facts.last, line.at)
      let instance = Identifier(decoding: line.instance)
      let kind = try words.word(line.kind)
      facts.instances.insert([kind, instance])
      guard isWanted(instance: instance, kind: kind) else { return true }
      facts.isAnyWanted = true
      if range.contains(line.at), latest.map({ $0 < place }) ?? true {
        latest = place
        facts.latestEvent = Identifier(decoding: line.event)
      }
      return true
    }
    return facts
  }

  /// Whether an instance and a kind are in question.
  private func isWanted(instance: Identifier, kind: Identifier) -> Bool {
    (question.instance ?? instance) == instance && (question.kind ?? kind) == kind
  }

  private func stories(event: Identifier) throws -> [WhyAnswer.Story] {
    let wanted = Array(event.utf8)
    var found = LatestDecisions()
    try db.scan(.device, question.device, inPagesWith: event, words: words) { line in
      if line.event == wanted { try found.add(line) }
      return true
    }
    var byInstance: [[Identifier]: [Decision]] = [:]
    for decision in found.sorted() where isWanted(instance: decision.instance, kind: decision.kind) {
      let target = [decision.instance, decision.kind, Identifier(decision.surface.rawValue)]
      byInstance[target, default: []].append(decision)
    }
    let stories = try byInstance.values.map { try story($0) }
    return stories.sorted { ($0.kind, $0.instance, $0.surface.code) < ($1.kind, $1.instance, $1.surface.code) }
  }

  private func story(_ decisions: [Decision]) throws -> WhyAnswer.Story {
    let steps = decisions.indices.map { place in
      WhyAnswer.Step(
        decision: decisions[place], explanation: ReasonText.explanation(decisions[place]),
        counterfactual: ReasonText.counterfactual(decisions[...place]))
    }
    // A decision about a repeated event changes nothing: the decision before it holds.
    let last = decisions.last { $0.reason != .duplicate } ?? decisions[decisions.count - 1]
    let id = decisions.last { $0.command != nil }?.command
    let command = try id.flatMap { try db.command(id: $0, words: words) }
    let charges = (command?.charged ?? []).map {
      WhyAnswer.ChargeEffect(ledger: $0.ledger, owner: $0.owner, before: $0.left.addingSaturating(1), after: $0.left)
    }
    return WhyAnswer.Story(
      instance: last.instance, kind: last.kind, surface: last.surface, steps: steps, command: command, charges: charges,
      outcome: try outcome(decisions, last: last, id: id, command: command) + laterPush(than: last))
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

  /// Tells of the push that reloaded an instance after an event had ended because no token could be used; empty if there is none.
  private func laterPush(than last: Decision) throws -> String {
    guard last.final, last.reason == .tokenDead || last.reason == .noToken else { return "" }
    for row in try db.commands(toDevice: question.device, in: TimeRange(from: last.at), words: words) {
      let command = try row.command(words)
      guard command.serves.contains(where: { $0.instance == last.instance }) else { continue }
      return "; command \(command.command) reloaded it \(Figure.span(command.at - last.at)) later"
    }
    return ""
  }

  /// Returns sentences about the device and the event, for an answer without a story.
  private func remarks(_ facts: DeviceFacts, deviceIsKnown: Bool) throws -> [String] {
    var remarks: [String] = []
    if facts.decisions > 0 {
      remarks.append(
        "device \(question.device) is known: \(Figure.count(facts.decisions, "decision")) from"
          + " \(Figure.time(Timestamp(microseconds: facts.first))) to \(Figure.time(Timestamp(microseconds: facts.last)))"
      )
      remarkOnInstances(facts, to: &remarks)
    } else if deviceIsKnown {
      remarks.append("device \(question.device) is known, but its decisions are no longer stored")
    } else {
      remarks.append(
        "device \(question.device) is not known: no event ever reached it, or its decisions were removed by age")
    }
    if let name = question.event { remarks += try remarksOn(event: name, deviceIsKnown: deviceIsKnown) }
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
  private func remarkOnInstances(_ facts: DeviceFacts, to remarks: inout [String]) {
    guard question.instance != nil || question.kind != nil, !facts.isAnyWanted else { return }
    let list = facts.instances.map { "\($0[0]) \($0[1])" }.sorted().prefix(8).joined(separator: ", ")
    remarks.append("no decision names that instance or kind; the device's instances are: \(list)")
  }

  private func remarksOn(event name: Identifier, deviceIsKnown: Bool) throws -> [String] {
    var (count, first): (Int, Int64) = (0, .max)
    var devices: Set<[UInt8]> = []
    try db.scan(.event, name, words: words) { line in
      count += 1
      first = min(first, line.at)
      devices.insert(line.device)
      return true
    }
    guard count > 0 else {
      return [
        "event \(name) is not known: it was not published, was refused (see the dead letters), interested no device,"
          + " or was removed by age"
      ]
    }
    var remarks = [
      "event \(name) is known: \(Figure.count(count, "decision")) on \(Figure.count(devices.count, "device")),"
        + " the first at \(Figure.time(Timestamp(microseconds: first)))"
    ]
    if deviceIsKnown {
      remarks.append(
        "at that time no instance in question was interested in the event's keys, no rule made a key for it,"
          + " or the device was not registered yet")
    }
    return remarks
  }
}
