import Auditing
import Domain
import Keys
import Serving

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
