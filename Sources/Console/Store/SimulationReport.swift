import JSON

/// A report that `rouse simulate --format json` has printed.
struct SimulationReport {
  /// The reason why a text is no report, in a sentence for the person who gave it.
  struct Refusal: Error {
    /// The sentence.
    let words: String
  }

  /// The most policies and baselines that are shown.
  /// - Beyond: the others are in the report's file only.
  static let policiesMax = 40

  /// The report.
  let value: JSONValue
  /// The names of its policies.
  let policyNames: [String]

  /// Reads a report.
  ///
  /// - Parameter text: The JSON text.
  /// - Throws: `Refusal` if it is something else.
  init(parsing text: String) throws(Refusal) {
    do throws(JSONError) { value = try JSONValue(parsing: text) } catch {
      throw Refusal(words: "The text is not JSON: \(error).")
    }
    guard case .array = value["kinds"], case .array(let policies) = value["policies"] else {
      throw Refusal(
        words: "The text is JSON, but it has no kinds and policies. rouse simulate --format json prints a report.")
    }
    policyNames = policies.prefix(Self.policiesMax).map { policy in
      if case .string(let name) = policy["name"] { name } else { "?" }
    }
  }
}
