import Domain

extension AuditJSON {
  /// Returns the zombies and the number of starts.
  /// - Throws: `EncodingError`; not expected for these values.
  public static func render(_ started: StartedActivities) throws -> String {
    try text(
      .object([
        "starts": .count(started.starts), "tooNew": .count(started.tooNew),
        "zombies": .array(
          started.zombies.map {
            .object([
              "device": .string($0.device), "subject": .string($0.subject), "kind": .string($0.kind),
              "since": .time($0.since), "command": .string($0.command), "decisionsSince": .count($0.decisionsSince),
              "cause": .string("neverRegistered"),
            ])
          }),
      ]))
  }
}
