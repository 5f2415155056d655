import Auditing
import Backtesting
import Domain
import Foundation
import HTTPTesting
import Installation
import JSON
import KafkaClient
import Keys
import Logging
import Observing
import Pipeline
import Serving
import Testing

@testable import Console

/// A console on a store of its own.
final class RunningConsole: Sendable {
  static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  let server: ConsoleServer
  let storePath: String

  private init(_ server: ConsoleServer, _ storePath: String) {
    self.server = server
    self.storePath = storePath
  }

  /// Runs a body, on a thread of its own, against a console.
  ///
  /// - Parameters:
  ///   - batch: The content of the store; nil for no store.
  ///   - keys: The key file; nil for no keys.
  ///   - rate: The requests that each key may send a second.
  ///   - tokens: The tokens that are taken; nil for none.
  ///   - change: Changes the settings.
  ///   - body: Gets the console.
  static func run(
    _ batch: AuditBatch? = Sample.batch(), keys: KeyFile? = nil, rate: Int? = nil, tokens: TokenVerifier? = nil,
    _ change: (inout ConsoleSettings) -> Void = { _ in }, _ body: @escaping @Sendable (RunningConsole) throws -> Void
  ) async throws {
    try await ServerTurns.shared.run {
      let (folder, initial) = try place(batch)
      var settings = initial
      defer { try? FileManager.default.removeItem(at: folder) }
      change(&settings)
      let ring = try keys.map { file in
        let path = folder.appending(path: "keys.json").path
        try file.write(to: path)
        return try KeyRing(path: path, recordsPerSecond: rate, logger: silent)
      }
      let access =
        ring == nil && tokens == nil ? nil : Authenticator(keys: ring, tokens: tokens, recordsPerSecond: rate)
      let server = try await ConsoleServer.start(
        settings, access: access, metrics: ConsoleMetrics(MetricRegistry()), logger: silent)
      let console = RunningConsole(server, settings.storePath)
      let outcome = try await onThread { Result { try body(console) } }
      await server.stop()
      try outcome.get()
    }
  }

  /// Makes a folder with a store, and the settings of a console on it, whose brokers do not answer.
  ///
  /// - Parameter batch: The content of the store; nil for no store.
  static func place(_ batch: AuditBatch?) throws -> (folder: URL, settings: ConsoleSettings) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "console-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "audit.sqlite").path
    if let batch {
      let store = try AuditStore.open(path: path)
      try store.store(batch)
      try store.close()
    }
    let cluster = ClusterSettings(
      kafka: KafkaConfiguration([("bootstrap.servers", "127.0.0.1:1")]), eventTopics: ["events"])
    return (
      folder,
      ConsoleSettings(
        listen: HTTPAddress(host: "127.0.0.1", port: 0), storePath: path, cluster: cluster, state: .planner,
        objectives: { ObjectiveHindsight($0, share: $1, instancesMax: $2, changesMax: $3) })
    )
  }

  func client() throws -> TestClient { try TestClient(server.address) }

  /// Asks a question on a connection of its own.
  func ask(_ path: String, _ headers: [(String, String)] = []) throws -> TestClient.Answer {
    try client().ask("GET", path, headers)
  }
}

extension TestClient.Answer {
  var json: JSONValue { get throws { try JSONValue(parsing: text) } }

  /// The address of the next part; nil at the end.
  var next: String? {
    headers["link"].flatMap { $0.hasPrefix("<") ? String($0.dropFirst().prefix { $0 != ">" }) : nil }
  }
}

/// As the command line does it.
extension ObjectiveHindsight: ObjectiveComparison {
  mutating func comparedObjectives() -> [(kind: Identifier, objective: ComparedObjective)] {
    results().map { kind, objective in
      (
        kind,
        ComparedObjective(
          freshWithin: objective.freshWithin, share: objective.share, wrongAtLeast: objective.wrongAtLeast,
          instances: objective.instances, changes: objective.changes, met: objective.met, possible: objective.possible)
      )
    }
  }

  mutating func encoding() -> (inout JSONWriter) -> Void {
    let results = results()
    return { Self.encode(results, to: &$0) }
  }
}
