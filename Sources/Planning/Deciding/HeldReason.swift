import Domain

/// The reason for which a push to an instance is held back, in one byte. A decision is reported when it changes. It is part of
/// the state records.
struct HeldReason: Equatable {
  /// The number of the reason (`Reason.number`); 0 when nothing is held back.
  let number: UInt8

  static let none = HeldReason(number: 0)

  /// Creates a held reason from a state record.
  init(number: UInt8) { self.number = number }

  /// Creates the held reason of a decision.
  /// - Parameter reason: The reason of the decision. Nil, and a reason that does not make an event wait, become `none`.
  init(_ reason: Reason?) { number = reason.map { $0.holdsBack ? $0.number : 0 } ?? 0 }
}
