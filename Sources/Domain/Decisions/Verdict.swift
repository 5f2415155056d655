/// The outcome of a decision.
public enum Verdict: String, Sendable, CaseIterable {
  /// A command goes out because of this event.
  case emit
  /// No command goes out now. The event waits and is examined again.
  case `defer`
  /// The event is sent with a command that another event or another instance caused.
  case coalesce
  /// The event never leads to a command.
  case suppress
}

extension Verdict: NumberedCode {
  /// The cases by their numbers; nil for a number of no case.
  public static let byNumber = casesByNumber()

  /// The number that stands for this verdict in files. Never reused for another verdict.
  public var number: UInt8 {
    switch self {
    case .emit: 0
    case .defer: 1
    case .coalesce: 2
    case .suppress: 3
    }
  }
}
