import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The meaning of an answer of the gateway.
enum GatewayVerdict: Sendable, Equatable {
  /// The brokers have the records.
  case acknowledged
  /// The request was refused for good.
  case refused(GatewayRefusal)
  /// The request is to be sent again later.
  case later(GatewayRefusal, retryAfter: Duration?)

  /// The longest pause that a server can ask for.
  /// - Beyond: the client asks again after an hour.
  static let retryAfterMax = Duration.seconds(3600)
  /// The statuses below 500 that do not refuse a request for good: the key can be mended, and the rate passes.
  private static let passing: Set<Int> = [401, 403, 408, 429]

  /// Reads an answer. Only the gateway's own words count: a proxy, a sign-in page or a cache on the way has answered for it with anything
  /// else, so nothing is dropped because of that. 413 is the exception.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - response: The head.
  ///   - now: The time of the device.
  init(_ body: Data, _ response: HTTPURLResponse, at now: Date) {
    let status = response.statusCode
    let problem = try? JSONDecoder().decode(ProblemDocument.self, from: body)
    let indices = (problem?.errors ?? []).compactMap(\.index)
    let refusal = GatewayRefusal(
      status: status, words: problem?.detail ?? "the gateway answered with \(status)", indices: Set(indices))
    switch status {
    case 202: self = .acknowledged
    // A proxy may have a smaller limit than the gateway, so fewer signals are to be sent together.
    case 413: self = .refused(refusal)
    case 400..<500 where !Self.passing.contains(status) && Self.isProblem(response): self = .refused(refusal)
    default:
      let header = response.value(forHTTPHeaderField: "Retry-After")
      self = .later(refusal, retryAfter: header.flatMap { Self.retryAfter($0, at: now) })
    }
  }

  private static func isProblem(_ response: HTTPURLResponse) -> Bool {
    let type = response.value(forHTTPHeaderField: "Content-Type") ?? ""
    return type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased() == "application/problem+json"
  }

  private struct ProblemDocument: Decodable {
    struct RecordMistake: Decodable { var index: Int? }

    var detail: String?
    var errors: [RecordMistake]?
  }

  /// Reads the header `Retry-After`: seconds, or a date.
  ///
  /// - Returns: The pause; nil if the header is neither.
  static func retryAfter(_ header: String, at now: Date) -> Duration? {
    let text = header.trimmingCharacters(in: .whitespaces)
    if let seconds = Int(text), seconds >= 0 { return min(retryAfterMax, .seconds(min(seconds, 1 << 32))) }
    guard let date = Self.date(text) else { return nil }
    return min(retryAfterMax, .seconds(max(0, date.timeIntervalSince(now))))
  }

  /// Reads a date of HTTP, such as `Mon, 23 Nov 2026 01:10:34 GMT`.
  static func date(_ text: String) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.date(from: text)
  }
}

/// The reason why the gateway did not take a request.
struct GatewayRefusal: Sendable, Equatable {
  /// The status; 0 if there was no answer.
  var status: Int
  /// The gateway's words.
  var words: String
  /// The records of a batch that are wrong; empty if the gateway does not say.
  var indices: Set<Int> = []
}
