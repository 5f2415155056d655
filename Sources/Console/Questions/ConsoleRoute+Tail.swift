import Auditing
import Domain
import Keys
import Serving

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
