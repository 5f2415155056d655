public import Domain
public import Policies

/// What a plan is made from and where it goes. Paths: `.jsonl`, `.jsonl.gz` or `-`.
public struct PlanOptions: Sendable {
  public var policy: Policy
  /// Registrations, one a line.
  public var devices: String
  /// CloudEvents in structured mode, one a line, ordered by time.
  public var events: String
  /// CloudEvents `rouse.signal.*`, one a line, ordered by time.
  public var signals: String?
  /// Where decisions go; nil: nowhere.
  public var decisions: String?
  /// Where commands go; nil: nowhere.
  public var commands: String?
  /// Where refused lines go; nil: nowhere, they are only counted.
  public var deadLetters: String?
  /// How long after the last record timers are still fired; nil: not at all.
  public var drain: TimeSpan? = PlanOptions.drainDefault

  public init(policy: Policy, devices: String, events: String) {
    self.policy = policy
    self.devices = devices
    self.events = events
  }

  /// Two days: quiet hours and an empty day's budget are over by then.
  public static let drainDefault = TimeSpan.hours(48)
}
