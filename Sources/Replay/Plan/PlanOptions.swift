public import Domain
public import Policies

/// The inputs and outputs of a plan over files. Every path names a `.jsonl` file, a `.jsonl.gz` file, or `-` for standard
/// input or output.
public struct PlanOptions: Sendable {
  /// The policy to plan with.
  public var policy: Policy
  /// The path of the registrations, one a line.
  public var devices: String
  /// The path of the domain events: CloudEvents in structured mode, one a line, in the order of their times.
  public var events: String
  /// The path of the signals: CloudEvents of the types `rouse.signal.*`, one a line, in the order of their times.
  public var signals: String?
  /// Recorded looks; nil without any. Their common view curve replaces the curves of all kinds, and the looks at registered
  /// devices reach the planner as signals.
  public var screens: ScreenEvents?
  /// The path to write decisions to; nil writes none.
  public var decisions: String?
  /// The path to write commands to; nil writes none.
  public var commands: String?
  /// The path to write refused lines to; nil only counts them.
  public var deadLetters: String?
  /// Whether devices register the Live Activities that pushes start, and register again when pushes have ended them, each after two
  /// seconds. If not, an activity runs as the files say.
  public var registersActivities = false
  /// The log that the run stands for. It fixes the order and the times of the records.
  public var log = Log.own
  /// The time after the last record for which timers still fire; nil fires none. A replayed log fires none.
  public var drain: TimeSpan? = PlanOptions.drainDefault

  /// The log that a run stands for. It fixes the offsets, the times and the ticks of the records.
  public enum Log: Sendable {
    /// A log in which all registrations have the time of the first event or signal, and each timer that is due gets a
    /// tick.
    case own
    /// The log of one partition that `rouse run` writes with `timestamps=event`. Its first record is the policy,
    /// registrations have their own times, all times are whole milliseconds, and there are no ticks: a timer that is
    /// due fires with the next record.
    case replayed
  }

  /// Creates options that write nothing.
  /// - Parameters:
  ///   - policy: The policy to plan with.
  ///   - devices: The path of the registrations.
  ///   - events: The path of the domain events.
  public init(policy: Policy, devices: String, events: String) {
    self.policy = policy
    self.devices = devices
    self.events = events
  }

  /// The usual drain: 48 hours. By then, quiet hours have ended and every day's budget has been renewed.
  public static let drainDefault = TimeSpan.hours(48)
}
