import Auditing
import JSON
import Serving

/// The answer to a question, in each form that the client may ask for. Only the form in use is made.
struct QuestionAnswer {
  /// The JSON value, as `rouse audit` prints it, without the line feed at its end.
  let json: () -> String
  /// The table, for CSV.
  let table: () -> AnswerTable
  /// The lines of JSON; nil for those of the table.
  var lines: (() -> [UInt8])?
  /// The address of the next part; nil at the end.
  var next: String?

  /// Makes an answer.
  init(json: @escaping () -> String, table: @escaping () -> AnswerTable) {
    self.json = json
    self.table = table
  }

  /// Returns the answer for HTTP.
  ///
  /// - Parameters:
  ///   - form: The form.
  ///   - name: The name of the file that a browser makes of it, without its ending.
  func answer(_ form: AnswerForm, name: String) -> HTTPAnswer {
    let body =
      switch form {
      case .json, .events: PrintableJSON.escape(Array(json().utf8)) + [10]
      case .csv: table().csv
      case .ndjson: lines?() ?? table().jsonLines
      }
    var headers = HTTPAnswer.dataHeaders(form, name: name)
    if let next { headers.append(("link", "<\(next)>; rel=\"next\"")) }
    return HTTPAnswer(status: 200, contentType: form.contentType, headers: headers, body: body)
  }

  /// Returns entries as lines of JSON.
  static func lines(_ entries: some Sequence<AuditEntry>) -> [UInt8] {
    var json = JSONWriter()
    var lines: [UInt8] = []
    for entry in entries {
      json.reset()
      AuditJSON.write(entry, to: &json)
      lines += PrintableJSON.escape(json.bytes) + [10]
    }
    return lines
  }
}

extension HTTPAnswer {
  /// The headers of data that is made for one client.
  ///
  /// - Parameters:
  ///   - form: The form.
  ///   - name: The name of the file that a browser makes of it, without its ending.
  static func dataHeaders(_ form: AnswerForm, name: String) -> [(name: String, value: String)] {
    var headers = [("cache-control", "no-store"), ("vary", "Accept"), ("x-content-type-options", "nosniff")]
    if form == .csv { headers.append(("content-disposition", "attachment; filename=\"\(name).csv\"")) }
    return headers
  }

  /// Makes an answer in JSON.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - json: The JSON value.
  init(status: Int = 200, json: [UInt8]) {
    self.init(
      status: status, contentType: AnswerForm.json.contentType,
      headers: [("cache-control", "no-store"), ("x-content-type-options", "nosniff")],
      body: PrintableJSON.escape(json) + [10])
  }
}
