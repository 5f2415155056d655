public import Domain

/// The things that a store has under a text: those with exactly this id, and those whose id begins with it.
public struct SearchFindings: Equatable, Sendable {
  /// The sorts of things.
  public enum FoundThing: Hashable, Sendable {
    case device(Identifier), event(Identifier), command(Identifier), decision(Identifier), kind(Identifier)
  }

  /// The things with exactly this id.
  public var exact: [FoundThing] = []
  /// Devices, events and kinds whose id begins with the text and is longer, among the newest decisions; kinds first.
  public var prefixed: [FoundThing] = []
  /// Whether `prefixed` leaves some out, because there are too many or because older decisions were not read.
  public var isBounded = false
}
