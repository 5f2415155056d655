import Auditing
import Domain
import Installation
import JSON
import Keys
import Operating
import Policies
import Serving

extension ConsoleRoute {
  /// The operations on policies.
  static let policies = [
    ConsoleRoute("getActivePolicies", "GET", "/v1/policies/active", role: .auditor, usesCluster: true) {
      request, context in
      let form = try askedForm(request)
      let settings = context.settings.cluster
      let (records, partitions) = try ClusterCall.run(settings, needing: settings.topics.log) {
        try PolicyLog(settings: settings).active()
      }
      var answer = QuestionAnswer {
        activeJSON(records, partitions)
      } table: {
        table(records)
      }.answer(form, name: "policies-in-force")
      if let tag = records.max(by: { $0.place < $1.place }).flatMap({ PolicyCondition.tag(of: $0) }) {
        answer.headers.append(("etag", tag.text))
      }
      return answer
    },
    ConsoleRoute(
      "listPolicyValues", "GET", "/v1/policies/active/values", role: .auditor, usesCluster: true
    ) { request, context in
      let form = try askedForm(request, of: [.ndjson, .csv])
      let document = try activeDocument(context)
      var answer = QuestionAnswer {
        ""
      } table: {
        table(document)
      }
      answer.lines = { Array((document.map { PolicyExplanation($0).jsonLines } ?? "").utf8) }
      return answer.answer(form, name: "policy-values")
    },
    ConsoleRoute("listPolicies", "GET", "/v1/policies", role: .auditor, usesCluster: true) { request, context in
      let form = try askedForm(request)
      let settings = context.settings.cluster
      let history = try ClusterCall.run(settings, needing: settings.topics.log) {
        try PolicyLog(settings: settings).history()
      }
      return QuestionAnswer {
        var json = JSONWriter()
        json.object { json in
          json.member("complete", history.isComplete)
          json.objects("policies", history.records) { write($0, to: &$1) }
        }
        return json.text
      } table: {
        table(history.records)
      }.answer(form, name: "policies")
    },
    ConsoleRoute("checkPolicy", "POST", "/v1/policies/check", role: .auditor) { request, _ in
      try noQuery(request)
      try checkType(request, yamlTypes)
      var json = JSONWriter()
      do throws(PolicyError) {
        PolicyCheck(try PolicyDocument(bytes: request.body, file: bodyName), file: bodyName).encode(to: &json)
      } catch {
        PolicyCheck(error, file: bodyName).encode(to: &json)
      }
      return HTTPAnswer(json: json.bytes)
    },
    ConsoleRoute("explainPolicy", "POST", "/v1/policies/explain", role: .auditor) { request, _ in
      var query = QueryReader(request.query)
      let kind = query.identifier("kind")
      try query.finish()
      try checkType(request, yamlTypes)
      let document = try document(request.body, bodyName)
      if let kind, document.policy.kind(named: kind) == nil {
        var problem = Problem(.queryRefused, "the policy has no kind \(kind)")
        let known = document.policy.kinds.map(\.name.text).joined(separator: ", ")
        problem.mistakes = [Problem.Mistake(parameter: "kind", detail: "no such kind; the kinds are \(known)")]
        throw problem
      }
      return HTTPAnswer(lines: PolicyExplanation(document, kind: kind).jsonLines)
    },
    ConsoleRoute("diffPolicy", "POST", "/v1/policies/diff", role: .auditor, usesCluster: true) { request, context in
      try noQuery(request)
      let (old, new) = try documents(request, context)
      return HTTPAnswer(lines: PolicyDifference(from: old.policy, to: new.policy).jsonLines)
    },
    ConsoleRoute("applyPolicy", "POST", "/v1/policies/apply", role: .operator, usesCluster: true) { request, context in
      var query = QueryReader(request.query)
      let isTrial = query.bool("dryRun") ?? false
      try query.finish()
      try checkType(request, yamlTypes)
      let document = try document(request.body, bodyName)
      try context.apply(document, by: request.viewer, isTrial: isTrial, if: PolicyCondition(request.head))
      var json = JSONWriter()
      json.object { json in
        json.member("applied", !isTrial)
        json.member("version", document.policy.reference.version)
        json.member("hash", document.policy.reference.hash)
        json.member("appliedBy", request.viewer.key)
        json.array("warnings", document.warnings) { $1.string("\($0)") }
      }
      return HTTPAnswer(json: json.bytes)
    },
  ]

  /// The name of a policy in a body, for messages.
  private static let bodyName = "body"
  /// The content types of a policy.
  private static let yamlTypes = ["application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml"]

  /// Refuses a query of an operation that has none.
  static func noQuery(_ request: ConsoleRequest) throws(Problem) {
    var query = QueryReader(request.query)
    try query.finish()
  }

  /// Refuses a body of another content type.
  ///
  /// - Returns: The content type.
  @discardableResult
  static func checkType(_ request: ConsoleRequest, _ types: [String]) throws(Problem) -> String {
    let type = (request.head.header("content-type") ?? "").prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
    guard types.contains(type) else {
      throw Problem(
        .unsupportedMediaType, "expected the header Content-Type with \(types.joined(separator: ", ")), found '\(type)'"
      )
    }
    return type
  }

  /// Reads a policy.
  ///
  /// - Throws: `Problem` with every mistake and its place.
  private static func document(_ bytes: [UInt8], _ name: String) throws(Problem) -> PolicyDocument {
    do throws(PolicyError) { return try PolicyDocument(bytes: bytes, file: name) } catch {
      let mistakes = error.problems.filter { $0.severity == .error }
      var problem = Problem(
        .policyRefused, "the policy has \(mistakes.count == 1 ? "1 mistake" : "\(mistakes.count) mistakes")")
      problem.mistakes = mistakes.map {
        Problem.Mistake(
          line: $0.line, column: $0.column, detail: $0.path.isEmpty ? $0.message : "\($0.path): \($0.message)")
      }
      throw problem
    }
  }

  /// Returns the two policies to compare: the one in force and that of the body, or `old` and `new` of a JSON body.
  private static func documents(
    _ request: ConsoleRequest, _ context: ConsoleContext
  ) throws -> (old: PolicyDocument, new: PolicyDocument) {
    if try checkType(request, yamlTypes + ["application/json"]) == "application/json" {
      let value: JSONValue
      do throws(JSONError) { value = try JSONValue(parsing: String(decoding: request.body, as: UTF8.self)) } catch {
        throw Problem(.malformedRequest, "the body is no JSON: \(error)")
      }
      guard case .string(let old)? = value["old"], case .string(let new)? = value["new"] else {
        throw Problem(.malformedRequest, "expected a JSON object with the texts old and new, each a policy in YAML")
      }
      return (try document(Array(old.utf8), "old"), try document(Array(new.utf8), "new"))
    }
    let new = try document(request.body, bodyName)
    guard let old = try activeDocument(context) else {
      throw Problem(.conflict, "the log holds no policy to compare with; apply one, or send old and new as JSON")
    }
    return (old, new)
  }

  /// Returns the newest policy of the log; nil if there is none.
  static func activeDocument(_ context: ConsoleContext) throws -> PolicyDocument? {
    let settings = context.settings.cluster
    let newest = try ClusterCall.run(settings, needing: settings.topics.log) {
      try PolicyLog(settings: settings).newest()
    }
    guard let text = newest?.text else { return nil }
    do throws(PolicyError) {
      return try PolicyDocument(record: text, file: "the log")
    } catch {
      throw Problem(.unavailable, "the policy in the log is none of this release: \(error)", retryAfterSeconds: 60)
    }
  }

  /// Reads the form of an answer from a query that has nothing else.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - forms: The forms of the operation; the first one is preferred.
  /// - Throws: `Problem` if the client accepts none of them, or if the query has something else.
  static func askedForm(
    _ request: ConsoleRequest, of forms: [AnswerForm] = [.json, .csv, .ndjson]
  ) throws(Problem) -> AnswerForm {
    var query = QueryReader(request.query)
    let form = try AnswerForm.asked(request, &query, of: forms)
    try query.finish()
    return form
  }

  private static func table(_ records: [PolicyLog.PolicyRecord]) -> AnswerTable {
    AnswerTable(
      ["partition", "offset", "at", "version", "hash", "appliedBy"],
      records.map { record in
        [
          .integer(Int(record.partition)), .integer(Int(record.offset)), record.at.map { .text("\($0)") } ?? .none,
          record.reference.map { .text($0.version.text) } ?? .none,
          record.reference.map { .text($0.hash.text) } ?? .none,
          record.appliedBy.map { .text($0) } ?? .none,
        ]
      })
  }

  private static func table(_ document: PolicyDocument?) -> AnswerTable {
    let lines = document.map { PolicyExplanation($0).lines } ?? []
    return AnswerTable(
      ["path", "value", "origin"],
      lines.map { line in
        let value: AnswerTable.Cell =
          switch line.value {
          case .null: .none
          case .bool(let flag): .bool(flag)
          case .number(let number), .inexact(let number): Int(exactly: number).map { .integer($0) } ?? .number(number)
          case .integer(let integer): .text(integer.description)
          case .string(let text): .text(text)
          }
        return [.text(line.path), value, .text(PolicyExplanation.words(line.origin))]
      })
  }

  private static func activeJSON(_ records: [PolicyLog.PolicyRecord], _ partitions: Int) -> String {
    var groups: [(record: PolicyLog.PolicyRecord, partitions: [Int32])] = []
    for record in records {
      if let index = groups.firstIndex(where: { $0.record.text == record.text }) {
        groups[index].partitions.append(record.partition)
      } else {
        groups.append((record, [record.partition]))
      }
    }
    var json = JSONWriter()
    json.object { json in
      json.member("partitions", partitions)
      json.member("withoutPolicy", partitions - records.count)
      json.objects("policies", groups) { group, json in
        write(group.record, to: &json)
        json.array("inForceOn", group.partitions) { $1.integer($0) }
        json.member("document", group.record.text)
      }
    }
    return json.text
  }

  private static func write(_ record: PolicyLog.PolicyRecord, to json: inout JSONWriter) {
    json.member("version", record.reference?.version.text)
    json.member("hash", record.reference?.hash.text)
    json.member("at", record.at.map { "\($0)" })
    json.member("offset", record.offset)
    json.member("appliedBy", record.appliedBy)
  }
}

extension HTTPAnswer {
  /// Makes an answer of lines of JSON.
  fileprivate init(lines: String) {
    self.init(
      status: 200, contentType: AnswerForm.ndjson.contentType,
      headers: [("cache-control", "no-store"), ("x-content-type-options", "nosniff")],
      body: PrintableJSON.escape(Array(lines.utf8)))
  }
}
