import Domain

/// The reason for which something is held back, in a byte, to tell whether it changed. The numbers are part of the state
/// records.
struct HeldReason: Equatable {
  let number: UInt8

  static let none = HeldReason(number: 0)

  /// Restores a reason as it was written.
  init(number: UInt8) { self.number = number }

  /// - Parameter reason: The reason of a decision; every one that does not hold back is `none`.
  init(_ reason: Reason?) {
    switch reason {
    case .quietHours: number = 1
    case .minInterval: number = 2
    case .budgetInstance: number = 3
    case .budgetDevice: number = 4
    case .budgetApp: number = 5
    case .reserveHeld: number = 6
    case .belowPrice: number = 7
    case nil, .duplicate, .staleEvent, .noMatch, .cosmetic, .notVisible, .noToken, .tokenDead, .unsupportedOS,
      .payloadTooLarge, .kindDisabled, .appForeground, .reloadImminent, .belowFloor, .emitted, .emittedAfterDefer,
      .emittedCoalesced, .emittedShared, .emittedFree, .superseded, .expired, .freshened, .instanceRemoved,
      .activityEnded, .alreadyStarted, .endedQuiet:
      number = 0
    }
  }
}
