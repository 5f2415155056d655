package import Domain

/// The names of Rouse's own topics: a prefix and a fixed word each.
public struct TopicNames: Equatable, Sendable {
  /// The prefix, `rouse.` by default. Several installations can share a cluster by different prefixes.
  public var prefix: String

  /// Makes the names of an installation.
  ///
  /// - Parameter prefix: The prefix, with its separator.
  public init(prefix: String = "rouse.") { self.prefix = prefix }

  /// The topic of registrations.
  public var devices: String { prefix + "devices" }
  /// The topic of signals.
  public var signals: String { prefix + "signals" }
  /// The internal log, which planners read.
  public var log: String { prefix + "log" }
  /// The planners' state.
  public var state: String { prefix + "state" }
  /// The topic of commands.
  public var commands: String { prefix + "commands" }
  /// The topic of decisions.
  public var decisions: String { prefix + "decisions" }
  /// The topic of records that were not accepted.
  public var deadLetters: String { prefix + "dead-letters" }

  /// The names of all seven topics.
  public var all: [String] { [devices, signals, log, state, commands, decisions, deadLetters] }

  /// Returns the sort of a public topic: any topic that is not one of Rouse's own has domain events.
  ///
  /// - Parameter topic: The topic.
  package func publicSort(of topic: String) -> PublicRecordDecoder.TopicSort {
    switch topic {
    case devices: .devices
    case signals: .signals
    default: .events
    }
  }
}
