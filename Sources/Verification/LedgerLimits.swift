/// The limits that ledgers are recomputed with, as plain numbers: the check knows nothing of how a planner works.
public struct LedgerLimits: Equatable, Sendable {
  /// A rate with a burst: GCRA with T = window / limit and τ = (burst − 1)·T.
  public struct Rate: Hashable, Sendable {
    /// µs between two tokens; 0: unlimited.
    public var interval: Int64
    public var burst: Int64

    /// - Parameter limit: nil is unlimited.
    public init(limit: Int?, windowMicroseconds: Int64, burst: Int) {
      interval = limit.map { windowMicroseconds / Int64(max(1, $0)) } ?? 0
      self.burst = Int64(burst)
    }
  }

  /// A number for a day.
  public struct Day: Hashable, Sendable {
    public var perDay: Int
    /// Any 24 hours, instead of a day of the device's time zone.
    public var isRolling: Bool

    public init(perDay: Int, isRolling: Bool) {
      self.perDay = perDay
      self.isRolling = isRolling
    }
  }

  public var device: Rate?
  public var background: Rate?
  public var control: Rate?
  public var start: Rate?
  /// Without and with frequent pushes: which of them holds is not on the command.
  public var activity: [Rate]
  /// By kind.
  public var days: [String: Day]

  public init(
    device: Rate? = nil, background: Rate? = nil, control: Rate? = nil, start: Rate? = nil, activity: [Rate] = [],
    days: [String: Day] = [:]
  ) {
    self.device = device
    self.background = background
    self.control = control
    self.start = start
    self.activity = activity
    self.days = days
  }
}
