import Domain
public import JSON

/// The result of a check of a policy document, as `rouse policy check` and the console tell it.
public struct PolicyCheck: Sendable {
  /// The name of the document. A problem is told with its own file if that has another name.
  public let file: String
  /// The policy; nil if the document has a mistake.
  public let policy: Policy?
  /// The mistakes, or the warnings of a valid policy.
  public let problems: [PolicyProblem]

  /// Makes the result for a document that was read.
  ///
  /// - Parameters:
  ///   - document: The document.
  ///   - file: The name that the result has.
  public init(_ document: PolicyDocument, file: String) {
    (self.file, policy, problems) = (file, document.policy, document.warnings)
  }

  /// Makes the result for a document with mistakes.
  ///
  /// - Parameters:
  ///   - error: The mistakes.
  ///   - file: The name that the result has.
  public init(_ error: PolicyError, file: String) {
    (self.file, policy, problems) = (file, nil, error.problems)
  }

  /// Writes the result as a JSON object.
  public func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.member("file", file)
    json.member("valid", policy != nil)
    if let policy {
      json.member("version", policy.reference.version)
      json.member("hash", policy.reference.hash)
      json.member("profile", policy.profile.name)
    }
    json.objects("problems", problems) { problem, json in
      json.member("severity", problem.severity.rawValue)
      if problem.file != file {
        json.member("file", problem.file)
      }
      json.member("line", problem.line)
      json.member("column", problem.column)
      json.member("path", problem.path)
      json.member("message", problem.message)
    }
    json.endObject()
  }
}
