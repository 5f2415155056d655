/// A reload strategy in use today. It knows the tokens, the clock and whether the screen is wrong, but not what a reload is
/// worth. Strategies are the baselines that a policy must beat.
public enum ReloadStrategy: Equatable, Sendable {
  /// Reloads at once until the day's tokens are spent.
  case firstCome
  /// Reloads at most once per (24 hours / tokens).
  case interval
  /// Reloads at the rate of GCRA, the generic cell rate algorithm, with T = 24 hours / tokens.
  case gcra(burst: Int)
  /// Reloads five seconds after the last of several changes, until the day's tokens are spent: debounce with a daily cap.
  case debounce
  /// Reloads when the looks since the last reload reach 0.7 · the looks left today / the tokens left. Knows the view curve,
  /// and learns nothing.
  case evenlyByLooks

  /// The strategies that every policy is compared with, in the order of reports.
  public static let baselines: [ReloadStrategy] = [
    .firstCome, .debounce, .interval, .gcra(burst: 1), .gcra(burst: 4), .evenlyByLooks,
  ]

  /// The name in reports.
  public var name: String {
    switch self {
    case .firstCome: "first come"
    case .interval: "fixed interval"
    case .gcra(let burst): "GCRA, burst \(burst)"
    case .debounce: "debounce 5 s + cap"
    case .evenlyByLooks: "evenly by looks"
    }
  }

  /// The silence that `debounce` waits for, µs.
  static let debounceSpan: Int64 = 5_000_000
  /// The share of the looks left per token left at which `evenlyByLooks` reloads.
  static let evenShare = 0.7
  /// The time between two considerations of `evenlyByLooks` while the screen is wrong, µs.
  static let evenStep: Int64 = 300_000_000
}
