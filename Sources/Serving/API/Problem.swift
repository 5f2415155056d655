import JSON

/// A refusal as RFC 9457 has it (`application/problem+json`). Every refusal of the gateway and of the console is one of these.
public struct Problem: Error, Sendable, Equatable {
  /// The sorts of refusals. The raw value is the last part of the `type`, and never changes its meaning.
  public enum Kind: String, Sendable, CaseIterable {
    /// The bytes are no request of HTTP, or the path names no device.
    case malformedRequest = "malformed-request"
    /// A record of the request would become a dead letter.
    case recordRefused = "record-refused"
    /// The query of a question has mistakes.
    case queryRefused = "query-refused"
    /// The policy in the body has mistakes.
    case policyRefused = "policy-refused"
    /// The request has no usable key or token.
    case unauthorized
    /// The key or the token does not allow the operation, the source, the type or the app.
    case forbidden
    /// The form that was sent belongs to a page that is out of date.
    case staleForm = "stale-form"
    /// The path is none of this server, or what it names does not exist.
    case notFound = "not-found"
    /// The device is not registered.
    case unknownDevice = "unknown-device"
    /// The path has other methods.
    case methodNotAllowed = "method-not-allowed"
    /// The operation has no answer of a type that the header `Accept` names.
    case notAcceptable = "not-acceptable"
    /// The body did not arrive in time.
    case tooSlow = "too-slow"
    /// The state of what the request is about does not allow it.
    case conflict
    /// The registration or the policy in force is not the one that `If-Match` names, or is one that `If-None-Match` excludes.
    case preconditionFailed = "precondition-failed"
    /// The body, or a record of it, is too large.
    case tooLarge = "too-large"
    /// The content type is none of the operation.
    case unsupportedMediaType = "unsupported-media-type"
    /// The key, or the subject of the token, has used up its rate.
    case tooManyRecords = "too-many-records"
    /// The headers are too large.
    case headersTooLarge = "headers-too-large"
    /// The server is full, or the brokers do not answer.
    case unavailable

    /// The status code.
    public var status: Int {
      switch self {
      case .malformedRequest, .recordRefused, .queryRefused, .policyRefused: 400
      case .unauthorized: 401
      case .forbidden, .staleForm: 403
      case .notFound, .unknownDevice: 404
      case .methodNotAllowed: 405
      case .notAcceptable: 406
      case .tooSlow: 408
      case .conflict: 409
      case .preconditionFailed: 412
      case .tooLarge: 413
      case .unsupportedMediaType: 415
      case .tooManyRecords: 429
      case .headersTooLarge: 431
      case .unavailable: 503
      }
    }

    /// The title, which is the same for each problem of the sort.
    public var title: String {
      switch self {
      case .malformedRequest: "Malformed request"
      case .recordRefused: "Record refused"
      case .queryRefused: "Query refused"
      case .policyRefused: "Policy refused"
      case .unauthorized: "No usable key or token"
      case .forbidden: "Not allowed with this key or token"
      case .staleForm: "The page is out of date"
      case .notFound: "Not found"
      case .unknownDevice: "No such device"
      case .methodNotAllowed: "No such method here"
      case .notAcceptable: "No such content type"
      case .tooSlow: "Request too slow"
      case .conflict: "Not possible now"
      case .preconditionFailed: "Another version in force"
      case .tooLarge: "Too large"
      case .unsupportedMediaType: "Unsupported content type"
      case .tooManyRecords: "Too many records"
      case .headersTooLarge: "Headers too large"
      case .unavailable: "Not available now"
      }
    }
  }

  /// One mistake, with its place if that is known.
  public struct Mistake: Sendable, Equatable {
    /// The index of the record in a batch; nil if the request has no batch.
    public var index: Int?
    /// The place in the body, as a JSON pointer (RFC 6901); nil if the place is not in the body.
    public var pointer: String?
    /// The header, such as `ce-type`; nil if the place is no header.
    public var header: String?
    /// The name in the query; nil if the place is not in the query.
    public var parameter: String?
    /// The line in the body, from 1; nil if the body has no lines, or the place is not in the body.
    public var line: Int?
    /// The column in the line, from 1; nil if there is no line.
    public var column: Int?
    /// The code of the reason that a dead letter would have; nil if intake would accept the record.
    public var code: String?
    /// The words that a dead letter would have; for other mistakes, what is wrong and what was expected.
    public var detail: String

    /// Makes a mistake.
    ///
    /// - Parameters:
    ///   - index: The index of the record in a batch; nil if the request has no batch.
    ///   - pointer: The place in the body; nil if the place is not in the body.
    ///   - header: The header; nil if the place is no header.
    ///   - parameter: The name in the query; nil if the place is not in the query.
    ///   - line: The line in the body, from 1; nil if there is none.
    ///   - column: The column in the line, from 1; nil if there is none.
    ///   - code: The code of the reason; nil if there is none.
    ///   - detail: The words.
    public init(
      index: Int? = nil, pointer: String? = nil, header: String? = nil, parameter: String? = nil, line: Int? = nil,
      column: Int? = nil, code: String? = nil, detail: String
    ) {
      self.index = index
      self.pointer = pointer
      self.header = header
      self.parameter = parameter
      self.line = line
      self.column = column
      self.code = code
      self.detail = detail
    }
  }

  /// The sort.
  public var kind: Kind
  /// The reason, and what to do, as a sentence.
  public var detail: String
  /// The mistakes, at most `mistakesMax`.
  public var mistakes: [Mistake] = []
  /// The time after which the request may be repeated, in seconds; nil if repeating it does not help.
  public var retryAfterSeconds: Int?
  /// Whether the request had a key or a token that does not work (RFC 6750, 3.1).
  public var isCredentialRefused = false
  /// The methods that the path has; none unless the method is the mistake.
  public var allowedMethods: [String] = []

  /// The largest number of mistakes that a problem lists.
  /// - Beyond: the detail has the number of refused records; the others are not listed.
  public static let mistakesMax = 100
  /// The prefix of the `type` of a problem.
  public static let typePrefix = "urn:rouse:problem:"

  /// Makes a problem.
  ///
  /// - Parameters:
  ///   - kind: The sort.
  ///   - detail: The reason, and what to do, as a sentence.
  public init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  /// Makes a problem that may be over soon.
  ///
  /// - Parameters:
  ///   - kind: The sort.
  ///   - detail: The reason as a sentence.
  ///   - seconds: The time after which the request may be repeated.
  public init(_ kind: Kind, _ detail: String, retryAfterSeconds seconds: Int) {
    self.init(kind, detail)
    retryAfterSeconds = seconds
  }

  /// Makes the problem of a method that a path does not have.
  ///
  /// - Parameter methods: The methods that it has. `HEAD` is added to `GET`.
  public init(allowedMethods methods: some Sequence<String>) {
    let allowed = methods.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }.sorted()
    self.init(.methodNotAllowed, "this path has the methods \(allowed.joined(separator: ", "))")
    allowedMethods = allowed
  }

  /// Makes the problem of a request that a server cannot take.
  ///
  /// - Parameters:
  ///   - fault: The reason.
  ///   - limits: The bounds of the server.
  public init(_ fault: HTTPFault, _ limits: HTTPServerLimits) {
    switch fault {
    case .malformed: self.init(.malformedRequest, "the request is not HTTP/1.1 or HTTP/2")
    case .tooSlow: self.init(.tooSlow, "the body did not arrive within \(limits.requestSeconds) s")
    case .bodyTooLarge: self.init(.tooLarge, "a body has at most \(limits.bodyBytesMax) bytes; send it in parts")
    case .headersTooLarge:
      self.init(
        .headersTooLarge,
        "a request has at most \(limits.headersMax) headers of \(limits.headerBytesMax) bytes in all")
    case .overloaded:
      self.init(.unavailable, "too many requests are being received; try again", retryAfterSeconds: 1)
    }
  }

  public var answer: HTTPAnswer {
    var json = JSONWriter()
    json.object { json in
      json.member("type", Self.typePrefix + kind.rawValue)
      json.member("title", kind.title)
      json.member("status", kind.status)
      json.member("detail", detail)
      guard !mistakes.isEmpty else { return }
      json.array("errors", mistakes.prefix(Self.mistakesMax)) { mistake, json in
        json.object { json in
          if let index = mistake.index { json.member("index", index) }
          json.member("pointer", mistake.pointer)
          json.member("header", mistake.header)
          json.member("parameter", mistake.parameter)
          if let line = mistake.line { json.member("line", line) }
          if let column = mistake.column { json.member("column", column) }
          json.member("code", mistake.code)
          json.member("detail", mistake.detail)
        }
      }
    }
    var headers: [(name: String, value: String)] = []
    if let retryAfterSeconds { headers.append(("retry-after", "\(retryAfterSeconds)")) }
    if kind == .unauthorized {
      let error = isCredentialRefused ? ", error=\"invalid_token\"" : ""
      headers.append(("www-authenticate", "Bearer realm=\"rouse\"\(error)"))
    }
    if kind == .methodNotAllowed { headers.append(("allow", allowedMethods.joined(separator: ", "))) }
    return HTTPAnswer(
      status: kind.status, contentType: "application/problem+json", headers: headers,
      body: json.bytes + [UInt8(ascii: "\n")])
  }
}
