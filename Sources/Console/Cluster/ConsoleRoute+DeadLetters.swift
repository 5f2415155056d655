import Auditing
import Domain
import Installation
import JSON
import KafkaClient
import Keys
import Operating
import Serving

extension QueryReader {
  /// Returns the reason of dead letters that a query names; nil if there is none.
  mutating func letterReason() -> String? { choice("reason", among: DeadLetterQueue.reasons) }
}

extension ConsoleRoute {
  /// The operations on dead letters.
  static let deadLetters = [
    ConsoleRoute("listDeadLetters", "GET", "/v1/dead-letters", role: .auditor, isLook: true, usesCluster: true) {
      request, context in
      var query = QueryReader(request.query)
      let form = try AnswerForm.asked(request, &query, of: [.json, .csv, .ndjson])
      let (limit, reason) = (query.integer("limit", 1...limitMax, default: 20), query.letterReason())
      let isWaiting = query.bool("waiting") ?? false
      let start = query.cursor { PageCursor.letters($0) }
      try query.finish()
      let page = try context.deadLetters { try $0.page(limit, reason: reason, waiting: isWaiting, from: start) }
      let letters = context.concealed(page.letters)
      var answer = QuestionAnswer {
        json(letters)
      } table: {
        table(letters)
      }
      answer.lines = { lines(letters) }
      answer.next = page.next.map { request.address(cursor: PageCursor.text($0)) }
      return answer.answer(form, name: "dead-letters")
    },
    ConsoleRoute(
      "getDeadLetter", "GET", "/v1/dead-letters/{partition}/{offset}", role: .auditor, isLook: true, usesCluster: true
    ) { request, context in
      try noQuery(request)
      let place = try place(request, context)
      var json = JSONWriter()
      let letter = try context.letter(at: place)
      letter.encode(to: &json, whole: true, context.concealing(letter))
      return HTTPAnswer(json: json.bytes)
    },
    ConsoleRoute(
      "replayDeadLetter", "POST", "/v1/dead-letters/{partition}/{offset}/replay", role: .operator, usesCluster: true
    ) { request, context in
      try noQuery(request)
      let place = try place(request, context)
      let (letter, report) = try context.replay(place, by: request.viewer)
      if let refusal = report.refused.first { throw Problem(.conflict, "the letter is not replayed: \(refusal.why)") }
      var json = JSONWriter()
      json.object { json in
        json.member("place", "\(place)")
        json.member("replayed", !report.replayed.isEmpty)
        json.member("replayedBefore", !report.replayedBefore.isEmpty)
        json.member("topic", letter.origin?.partition.topic)
      }
      return HTTPAnswer(json: json.bytes)
    },
    ConsoleRoute("replayDeadLetters", "POST", "/v1/dead-letters/replay", role: .operator, usesCluster: true) {
      request, context in
      var query = QueryReader(request.query)
      let (reason, limit) = (query.letterReason(), query.integer("limit", 1...limitMax, default: 100))
      query.require("reason", "name the reason of the letters that are to be replayed")
      let start = query.cursor { PageCursor.letters($0) }
      try query.finish()
      let outcome = try context.replay(reason: reason ?? "", limit: limit, from: start, by: request.viewer)
      var json = JSONWriter()
      json.object { json in
        json.list("replayed", outcome.report.replayed.map { "\($0.place)" })
        json.list("replayedBefore", outcome.report.replayedBefore.map { "\($0.place)" })
        json.objects("refused", outcome.report.refused) { refusal, json in
          json.member("place", "\(refusal.letter.place)")
          json.member("why", refusal.why)
        }
        json.member("next", outcome.next.map { request.address(cursor: PageCursor.text($0)) })
      }
      return HTTPAnswer(json: json.bytes)
    },
  ]

  /// Returns the place that a path names, and notes it as what the request is about.
  static func place(_ request: ConsoleRequest, _ context: ConsoleContext) throws(Problem) -> KafkaPosition {
    guard let partition = Int32(request["partition"]), let offset = Int64(request["offset"]), partition >= 0,
      offset >= 0
    else { throw Problem(.malformedRequest, "expected the numbers of a partition and of an offset in the path") }
    let place = KafkaPosition(
      KafkaTopicPartition(topic: context.settings.cluster.topics.deadLetters, partition: partition), offset: offset)
    context.subject = "\(place)"
    return place
  }

  private static func json(_ letters: [DeadLetterRecord]) -> String {
    var json = JSONWriter()
    json.beginArray()
    for letter in letters { letter.encode(to: &json, whole: false) }
    json.endArray()
    return json.text
  }

  private static func lines(_ letters: [DeadLetterRecord]) -> [UInt8] {
    letters.flatMap { letter in
      var json = JSONWriter()
      letter.encode(to: &json, whole: false)
      return PrintableJSON.escape(json.bytes) + [10]
    }
  }

  /// Returns letters as a table, without their values.
  static func table(_ letters: [DeadLetterRecord]) -> AnswerTable {
    AnswerTable(
      ["place", "at", "reason", "message", "origin", "replayed", "bytes"],
      letters.map { letter in
        [
          .text("\(letter.place)"), .text(letter.time), .text(letter.reason), .text(letter.text),
          letter.origin.map { .text("\($0)") } ?? .none,
          letter.replayedAt.map { .text("\(Timestamp(milliseconds: $0))") } ?? .none,
          .integer(letter.leftOutBytes ?? letter.message.value?.count ?? 0),
        ]
      })
  }
}
