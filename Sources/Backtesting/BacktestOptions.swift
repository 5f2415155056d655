public import Policies
public import Replay

/// The inputs of a backtest. Every path names a `.jsonl` file, a `.jsonl.gz` file, or `-` for standard input.
public struct BacktestOptions: Sendable {
  /// A policy to measure.
  public struct Candidate: Sendable {
    /// The name of the policy in the report.
    public var name: String
    public var policy: Policy

    /// Creates a candidate.
    /// - Parameters:
    ///   - name: The name of the policy in the report; different for each candidate.
    ///   - policy: The policy.
    public init(name: String, policy: Policy) {
      self.name = name
      self.policy = policy
    }
  }

  /// The policies to measure, at least one. The rules of the first one define the worth of a change for all of them:
  /// otherwise a policy that finds every change relevant would look best.
  public var candidates: [Candidate]
  /// The path of the registrations, one a line.
  public var devices: String
  /// The path of the domain events: CloudEvents in structured mode, one a line, in the order of their times.
  public var events: String
  /// The path of the signals that devices sent: CloudEvents of the types `rouse.signal.*`, one a line, in the order of
  /// their times. Every planner receives them.
  public var signals: String?
  /// Recorded looks. Their common view curve replaces the curves of all kinds, in every policy and in the optimum. A
  /// device with recorded looks is measured by its own curve, and the planners receive its looks as signals.
  public var screens: ScreenEvents?
  /// The behaviour of devices that receive a push.
  public var deviceModel = DeviceModel()
  /// Whether the baseline strategies run on the same streams.
  public var baselines = true
  /// The largest number of instances to measure, in the order of registration. The planners plan for all instances.
  public var instancesMax = 5_000
  /// The share of the measured devices whose changes are held against the objectives of kinds, above 0; 1 for all. A hash of its id
  /// chooses a device.
  public var objectiveShare = 1.0

  /// Creates options without signals or recorded looks, with devices that reload for every push.
  /// - Parameters:
  ///   - candidates: The policies to measure, at least one.
  ///   - devices: The path of the registrations.
  ///   - events: The path of the domain events.
  public init(candidates: [Candidate], devices: String, events: String) {
    self.candidates = candidates
    self.devices = devices
    self.events = events
  }
}
