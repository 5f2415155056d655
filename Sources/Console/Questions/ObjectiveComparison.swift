package import Domain
package import JSON

/// Compares the decisions of a range with the best schedules of reloads: how many of the changes that count for the objectives of kinds
/// were shown in time, and how many could have been. The console does not compute the schedules by itself.
package protocol ObjectiveComparison: Sendable {
  /// Takes the time zone of a device, by which its budget days are counted. Without it they are those of UTC.
  mutating func take(_ registration: Registration)
  /// Takes a decision. Those of an instance must come in the order in which they were made.
  mutating func take(_ decision: Decision)
  /// The devices whose instances are compared.
  var devices: Set<Identifier> { get }
  /// Forgets all time zones, so that days are those of UTC.
  mutating func forgetZones()
  /// Compares further instances with their best schedules, at most `count` of them. Take everything before.
  ///
  /// - Returns: Whether all are compared.
  mutating func score(_ count: Int) -> Bool
  /// Returns the result of each kind with an objective, in the order of the policy.
  mutating func comparedObjectives() -> [(kind: Identifier, objective: ComparedObjective)]
  /// Whether everything of the sample is compared: false if there was more than the most.
  var isComplete: Bool { get }
  /// Returns a function that writes the results as members of a JSON object.
  mutating func encoding() -> (inout JSONWriter) -> Void
}

/// The objective of a kind, beside what was shown and what could have been.
package struct ComparedObjective: Sendable {
  /// The time from the arrival of a change until the screen is to show it.
  package var freshWithin: TimeSpan
  /// The share of changes for which that is to hold.
  package var share: Double
  /// The relevance from which on a change counts.
  package var wrongAtLeast: Double
  /// The number of instances with such a change, among those of the sample.
  package var instances: Int
  /// The number of changes that counted.
  package var changes: Int
  /// The number of those that were shown in time, or undone.
  package var met: Int
  /// The number of those that the best schedule could have shown in time; not less than `met`.
  package var possible: Int

  /// States a result.
  package init(
    freshWithin: TimeSpan, share: Double, wrongAtLeast: Double, instances: Int, changes: Int, met: Int, possible: Int
  ) {
    self.freshWithin = freshWithin
    self.share = share
    self.wrongAtLeast = wrongAtLeast
    self.instances = instances
    self.changes = changes
    self.met = met
    self.possible = possible
  }
}
