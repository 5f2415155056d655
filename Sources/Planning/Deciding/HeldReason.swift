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
    number = reason.map { $0.holdsBack ? $0.number : 0 } ?? 0
  }
}
