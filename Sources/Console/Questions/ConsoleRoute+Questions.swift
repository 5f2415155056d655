import Auditing
import Domain
import Keys
import Serving

extension ConsoleRoute {
  /// The questions for programs. Those that `rouse audit` answers have its JSON.
  static let questions = [tail] + deviceQuestions + storeQuestions + [exports, accesses]

  /// Reads a query, and returns the closure that asks the store. All mistakes of the query are told before the store is asked.
  typealias Question = @Sendable (inout QueryReader, ConsoleRequest) throws -> (AuditStore) throws -> QuestionAnswer

  /// Makes the route of a question.
  ///
  /// - Parameters:
  ///   - name: The name of the operation.
  ///   - path: The path.
  ///   - isLook: Whether the answer shows the history of devices.
  ///   - question: The question.
  static func question(_ name: String, _ path: String, isLook: Bool, _ question: @escaping Question) -> ConsoleRoute {
    ConsoleRoute(name, "GET", path, role: .auditor, isLook: isLook) { request, context in
      var query = QueryReader(request.query)
      let form = try AnswerForm.asked(request, &query, of: [.json, .csv, .ndjson])
      let ask = try question(&query, request)
      context.note(query.texts)
      context.namesDevices = query.texts["by"] == Top.Key.device.rawValue
      try query.finish()
      return try ask(try context.store()).answer(
        form, name: request.head.path.split(separator: "/").last.map(String.init) ?? "")
    }
  }

  /// The most decisions, commands or values that one answer lists.
  /// - Beyond: the query is refused; the next part is asked for.
  static let limitMax = 1000

  private static let deviceQuestions = [
    question("getTimeline", "/v1/devices/{device}/timeline", isLook: true) { query, request in
      let device = try request.identifier("device")
      let (range, limit) = (query.range(), query.integer("limit", 1...limitMax, default: 100))
      let moment = query.cursor { PageCursor.moment($0) }
      return { store in
        let (timeline, next) = try store.timeline(device, range, limit: limit, after: moment)
        var answer = QuestionAnswer {
          AuditJSON.render(timeline)
        } table: {
          AnswerTable(timeline.entries)
        }
        answer.lines = { QuestionAnswer.lines(timeline.entries) }
        answer.next = next.map { request.address(cursor: PageCursor.text($0)) }
        return answer
      }
    },
    question("getStatement", "/v1/devices/{device}/statement", isLook: true) { query, request in
      let device = try request.identifier("device")
      let (range, limit) = (query.range(), query.integer("limit", 1...limitMax, default: 100))
      let offset = query.offset("utcOffset")
      let place = query.cursor { PageCursor.statementPlace($0) }
      return { store in
        let statement = try store.statement(device, range: range, utcOffset: offset, limit: limit, before: place)
        var answer = QuestionAnswer {
          AuditJSON.render(statement)
        } table: {
          AnswerTable(statement)
        }
        answer.next = statement.begin.map { request.address(cursor: PageCursor.text($0)) }
        return answer
      }
    },
    question("getWhy", "/v1/why", isLook: true) { query, _ in
      let question = WhyQuestion(
        device: query.neededIdentifier("device"), instance: query.identifier("instance"),
        kind: query.identifier("kind"),
        event: query.identifier("event"), at: query.time("at"))
      return { store in
        let answer = try store.why(question)
        return QuestionAnswer {
          AuditJSON.render(answer)
        } table: {
          AnswerTable(answer)
        }
      }
    },
    question("listDecisions", "/v1/decisions", isLook: true) { query, request in
      let filter = query.filter()
      let order = query.choice("order", DecisionPart.Order.self) ?? .newest
      let limit = query.integer("limit", 1...limitMax, default: 100)
      let place = query.cursor { PageCursor.place($0) }
      return { store in
        let part = try store.decisions(filter, order: order, after: place, limit: limit)
        let next = part.next.map { request.address(cursor: PageCursor.text($0)) }
        let entries = part.decisions.map { AuditEntry.decision($0.decision) }
        var answer = QuestionAnswer {
          AuditJSON.render(part, next: next)
        } table: {
          AnswerTable(entries)
        }
        answer.lines = { QuestionAnswer.lines(entries) }
        answer.next = next
        return answer
      }
    },
    question("getDecision", "/v1/decisions/{decision}", isLook: true) { _, request in
      let id = try request.identifier("decision")
      return { store in
        guard let decision = try store.decision(id) else {
          throw Problem(.notFound, "there is no decision \(id) here; it has not arrived yet, or was removed by age")
        }
        var answer = QuestionAnswer {
          AuditJSON.render(decision)
        } table: {
          AnswerTable([.decision(decision)])
        }
        answer.lines = { QuestionAnswer.lines([.decision(decision)]) }
        return answer
      }
    },
    question("getCommand", "/v1/commands/{command}", isLook: true) { query, request in
      let id = try request.identifier("command")
      let limit = query.integer("limit", 1...limitMax, default: 100)
      return { store in
        let (command, decisions) = (try store.command(id), try store.decisions(ofCommand: id, limit: limit))
        guard command != nil || !decisions.isEmpty else {
          throw Problem(.notFound, "there is no command \(id) here; it has not arrived yet, or was removed by age")
        }
        let entries = (command.map { [.command($0)] } ?? []) + decisions.map { AuditEntry.decision($0) }
        var answer = QuestionAnswer {
          AuditJSON.render(command, decisions: decisions)
        } table: {
          AnswerTable(entries)
        }
        answer.lines = { QuestionAnswer.lines(entries) }
        return answer
      }
    },
  ]

  private static let storeQuestions = [
    question("getSummary", "/v1/summary", isLook: false) { query, _ in
      let end = query.time("until")
      return { store in
        let summary = try store.summary(until: end)
        return QuestionAnswer {
          AuditJSON.render(summary)
        } table: {
          AnswerTable(summary)
        }
      }
    },
    // It names some of the devices.
    question("getEvent", "/v1/events/{event}", isLook: true) { _, request in
      let event = try request.identifier("event")
      return { store in
        let effect = try store.event(event)
        return QuestionAnswer {
          AuditJSON.render(effect)
        } table: {
          AnswerTable(effect)
        }
      }
    },
    question("getTop", "/v1/top", isLook: false) { query, request in
      let key = query.choice("by", Top.Key.self) ?? .reason
      let (range, limit) = (query.range(), query.integer("limit", 1...limitMax, default: 100))
      let place = query.cursor { PageCursor.topPlace($0) }
      return { store in
        let (top, next) = try store.topPart(by: key, range: range, limit: limit, after: place)
        var answer = QuestionAnswer {
          AuditJSON.render(top)
        } table: {
          AnswerTable(top)
        }
        answer.next = next.map { request.address(cursor: PageCursor.text($0)) }
        return answer
      }
    },
    question("listZombies", "/v1/live-activities/zombies", isLook: true) { query, request in
      let (range, limit) = (query.range(), query.integer("limit", 1...limitMax, default: 100))
      let place = query.cursor { PageCursor.startPlace($0) }
      return { store in
        let started = try store.zombies(range: range, limit: limit, after: place)
        var answer = QuestionAnswer {
          AuditJSON.render(started)
        } table: {
          AnswerTable(started)
        }
        answer.next = started.next.map { request.address(cursor: PageCursor.text($0)) }
        return answer
      }
    },
    question("getHealth", "/v1/health", isLook: false) { _, _ in
      { store in
        let health = try store.health()
        return QuestionAnswer {
          AuditJSON.render(health)
        } table: {
          AnswerTable(health)
        }
      }
    },
  ]

  private static let exports = ConsoleRoute("export", "GET", "/v1/export", role: .auditor, isLook: true) {
    request, context in
    var query = QueryReader(request.query)
    let form = try AnswerForm.asked(request, &query, of: [.ndjson, .csv])
    let range = query.range()
    try query.finish()
    // A missing store is told before the head of the answer is sent.
    _ = try context.store()
    return HTTPAnswer(
      status: 200, contentType: form.contentType, headers: HTTPAnswer.dataHeaders(form, name: "export"),
      stream: try ExportStream.start(context.readers) { try .records(range, form, $0) })
  }
}

extension AnswerForm {
  /// Returns the form that a request asks for, by the name `format` of its query or by the header `Accept`.
  ///
  /// - Throws: `Problem` if the client accepts none.
  static func asked(
    _ request: ConsoleRequest, _ query: inout QueryReader, of forms: [AnswerForm]
  ) throws(Problem) -> AnswerForm {
    if let form = query.choice("format", AnswerForm.self) {
      if forms.contains(form) { return form }
      query.refuse("format", "expected \(forms.map(\.rawValue).joined(separator: ", ")), found '\(form.rawValue)'")
      return forms[0]
    }
    return try preferred(request.head.header("accept"), of: forms)
  }
}

extension QueryReader {
  /// Returns the filter of a list of decisions.
  mutating func filter() -> DecisionFilter {
    var filter = DecisionFilter()
    filter.device = identifier("device")
    filter.instance = identifier("instance")
    filter.event = identifier("event")
    filter.command = identifier("command")
    filter.kind = identifier("kind")
    filter.surface = choice("surface", Surface.self)
    filter.verdict = choice("verdict", Verdict.self)
    filter.reason = choice("reason", Reason.self)
    filter.objective = choice("objective", ObjectiveResult.self)
    filter.final = bool("final")
    filter.range = range()
    return filter
  }

  /// Returns the cursor of a list; nil if there is none.
  mutating func cursor<Place>(_ read: (String) -> Place?) -> Place? {
    guard let text = text("cursor", bytesMax: PageCursor.bytesMax) else { return nil }
    if let place = read(text) { return place }
    refuse("cursor", "is none that this question gave; begin without one")
    return nil
  }

  /// Returns an offset to UTC; none if there is none.
  mutating func offset(_ name: String) -> TimeSpan {
    guard let text = text(name) else { return .zero }
    // In a query `+` stands for a space.
    guard let offset = TimeSpan(utcOffset: text.replacing(" ", with: "+")) else {
      refuse(name, "expected an offset to UTC such as +02:00 or -04:00, found '\(text)'")
      return .zero
    }
    return offset
  }
}

extension AuditStore {
  /// Returns the latest entries of a device before a moment, and the moment before which the older ones are.
  ///
  /// - Parameters:
  ///   - device: The id of the device.
  ///   - range: The range of log time.
  ///   - limit: The most entries.
  ///   - moment: The moment; nil for the newest entries.
  /// - Throws: `AuditError` when the file cannot be read.
  func timeline(
    _ device: Identifier, _ range: TimeRange, limit: Int, after moment: PageCursor.Moment?
  ) throws(AuditError) -> (DeviceTimeline, next: PageCursor.Moment?) {
    var range = range
    if let moment {
      let end = moment.at + TimeSpan(microseconds: 1)
      range.to = range.to.map { min($0, end) } ?? end
    }
    var timeline = try self.device(device, range: range, limit: limit + (moment?.seen ?? 0))
    if let moment {
      let seen = timeline.entries.suffix(moment.seen).count { $0.at == moment.at }
      timeline.entries.removeLast(seen)
      timeline.omitted += max(0, timeline.entries.count - limit)
      timeline.entries = timeline.entries.suffix(limit)
    }
    guard timeline.omitted > 0, let first = timeline.entries.first?.at else { return (timeline, nil) }
    let seen = timeline.entries.prefix { $0.at == first }.count + (moment?.at == first ? moment?.seen ?? 0 : 0)
    return (timeline, PageCursor.Moment(at: first, seen: seen))
  }
}

extension ConsoleRoute {
  /// The access records, for operators alone: they say who asked what. Each look at them leaves a record, too.
  static let accesses = ConsoleRoute("listAccess", "GET", "/v1/access", role: .operator, isLook: true) {
    request, context in
    var query = QueryReader(request.query)
    let form = try AnswerForm.asked(request, &query, of: [.json, .csv, .ndjson])
    let keeper = query.choice("of", AccessRecords.Keeper.self) ?? .console
    let filter = query.accessFilter()
    let limit = query.integer("limit", 1...limitMax, default: 100)
    let place = query.cursor { PageCursor.accessPlace($0) }
    context.note(query.texts)
    try query.finish()
    let part = try context.access.part(of: keeper, filter, after: place, limit: limit)
    var answer = QuestionAnswer {
      AuditJSON.render(part.records)
    } table: {
      AnswerTable(part.records)
    }
    answer.next = part.next.map { request.address(cursor: PageCursor.text($0)) }
    return answer.answer(form, name: "access")
  }
}

extension QueryReader {
  /// Returns the filter of a list of access records.
  mutating func accessFilter() -> AccessFilter {
    var filter = AccessFilter()
    filter.key = identifier("key")
    filter.operation = identifier("operation")
    filter.device = identifier("device")
    filter.event = identifier("event")
    filter.isRefused = bool("refused")
    filter.range = range()
    return filter
  }
}

extension ConsoleRoute {
  /// The most decisions that a client can want at a time, if it does not want them all.
  /// - Beyond: the query is refused.
  static let newestMax = 200

  /// The decisions as they are stored, as Server-Sent Events.
  static let tail = ConsoleRoute("tailDecisions", "GET", "/v1/decisions/tail", role: .auditor, isLook: true) {
    request, context in
    var query = QueryReader(request.query)
    _ = try AnswerForm.asked(request, &query, of: [.events])
    let filter = query.filter()
    let newest = query.integer("newest", 1...newestMax, default: 0)
    var place = query.cursor { PageCursor.place($0) }
    context.note(query.texts)
    try query.finish()
    // A browser that comes back sends the id of the last event that it has.
    if let last = request.head.header("last-event-id"), !last.isEmpty {
      guard let known = PageCursor.place(last) else {
        throw Problem(.malformedRequest, "the header Last-Event-ID is none that this console gave; leave it out")
      }
      place = known
    }
    // A missing store is told before the head of the answer is sent.
    _ = try context.store()
    return HTTPAnswer(
      status: 200, contentType: AnswerForm.events.contentType,
      headers: HTTPAnswer.dataHeaders(.events, name: "decisions") + [("x-accel-buffering", "no")],
      stream: try context.tailer.start(
        filter, newest: newest == 0 ? nil : newest, after: place, key: request.viewer.key))
  }
}
