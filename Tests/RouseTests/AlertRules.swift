import Foundation
import Yams

/// The files of `deploy/observability`, as far as the tests of the pages need them.
enum AlertRules {
  /// The rules of `alerts.yaml`.
  struct Document: Decodable {
    var groups: [Group]
  }

  /// The rules about one part of the pipeline.
  struct Group: Decodable {
    var name: String
    var rules: [Rule]
  }

  /// One rule that fires an alert, or one that records a series.
  struct Rule: Decodable {
    var alert: String?
    var record: String?
    var expr: String
    var labels: [String: String]?
    var annotations: [String: String]?
  }

  /// The tests of `alerts.test.yaml`.
  struct TestDocument: Decodable {
    var tests: [RuleTest]
  }

  /// A test of `promtool`, with the alert that it is about as its name.
  struct RuleTest: Decodable {
    var name: String
  }

  static let folder = DocumentationPage.root.appending(path: "deploy/observability")

  /// Reads the rules.
  /// - Throws: when the file cannot be read or is not understood.
  static func rules() throws -> [Rule] {
    try YAMLDecoder().decode(Document.self, from: text("alerts.yaml")).groups.flatMap(\.rules)
  }

  /// The names of the tests of the rules.
  /// - Throws: as for `rules`.
  static func testNames() throws -> Set<String> {
    Set(try YAMLDecoder().decode(TestDocument.self, from: text("alerts.test.yaml")).tests.map(\.name))
  }

  static func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }
}
