public import Policies

/// What is simulated. Paths: `.jsonl`, `.jsonl.gz` or `-`.
public struct BacktestOptions: Sendable {
  /// A policy and the name it goes by in the report.
  public struct Candidate: Sendable {
    public var name: String
    public var policy: Policy
    public init(name: String, policy: Policy) {
      self.name = name
      self.policy = policy
    }
  }

  /// At least one. The first one's rules say what a change is worth, for all of them: otherwise a policy that finds
  /// everything relevant would look best.
  public var candidates: [Candidate]
  /// Registrations, one a line.
  public var devices: String
  /// CloudEvents in structured mode, one a line, ordered by time.
  public var events: String
  /// CloudEvents `rouse.signal.*`, one a line, ordered by time: what the devices said. Told to every planner.
  public var signals: String?
  /// When people looked. Their common curve replaces every kind's view curve, in all policies and in the optimum; what a
  /// device that it names could show is weighed by that device's own curve, and its looks are told to the planners.
  public var screens: ScreenEvents?
  /// What devices do with a push.
  public var deviceModel = DeviceModel()
  /// Whether the strategies in use today are run on the same streams.
  public var baselines = true
  /// Instances measured, in the order of registration; all of them are planned for.
  public var instancesMax = 5_000

  public init(candidates: [Candidate], devices: String, events: String) {
    self.candidates = candidates
    self.devices = devices
    self.events = events
  }
}
