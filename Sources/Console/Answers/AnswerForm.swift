import Serving

/// A form in which a question is answered.
enum AnswerForm: String, Sendable, CaseIterable {
  /// One JSON value, indented.
  case json
  /// Lines of JSON.
  case ndjson
  /// Comma-separated values with a line of names (RFC 4180).
  case csv
  /// Server-Sent Events.
  case events

  var mediaType: String {
    switch self {
    case .json: "application/json"
    case .ndjson: "application/x-ndjson"
    case .csv: "text/csv"
    case .events: "text/event-stream"
    }
  }

  /// The value of the header `Content-Type`.
  var contentType: String { self == .csv ? "text/csv; charset=utf-8; header=present" : mediaType }

  /// Returns the form that a client prefers.
  ///
  /// - Parameters:
  ///   - accept: The header `Accept`; nil or empty accepts everything.
  ///   - forms: The forms of the operation; the first one is preferred.
  /// - Throws: `Problem` if the client accepts none of them.
  static func preferred(_ accept: String?, of forms: [AnswerForm]) throws(Problem) -> AnswerForm {
    guard let accept, !accept.allSatisfy(\.isWhitespace) else { return forms[0] }
    let ranges = accept.split(separator: ",").prefix(rangesMax).compactMap(MediaRange.init)
    var best: (form: AnswerForm, quality: Double)?
    for form in forms {
      let quality = ranges.filter { $0.includes(form.mediaType) }.max { $0.precision < $1.precision }?.quality ?? 0
      if quality > best?.quality ?? 0 { best = (form, quality) }
    }
    guard let best else {
      throw Problem(
        .notAcceptable,
        "this operation answers with \(forms.map(\.mediaType).joined(separator: ", ")); name one of them in Accept")
    }
    return best.form
  }

  /// The media ranges of a header that are looked at.
  /// - Beyond: further ones are ignored.
  private static let rangesMax = 32
}

/// A media range of the header `Accept`, such as `text/*;q=0.5`.
private struct MediaRange {
  let type: String
  let quality: Double

  /// Reads a range; nil for a text that is none.
  init?(_ text: Substring) {
    let parts = text.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
    guard let type = parts.first, type.contains("/") else { return nil }
    self.type = type
    let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
    self.quality = quality.isFinite ? min(1, max(0, quality)) : 0
  }

  /// The number of parts of the type that the range names.
  var precision: Int { type == "*/*" ? 0 : type.hasSuffix("/*") ? 1 : 2 }

  func includes(_ mediaType: String) -> Bool {
    type == "*/*" || type == mediaType || type.hasSuffix("/*") && mediaType.hasPrefix(type.dropLast())
  }
}
