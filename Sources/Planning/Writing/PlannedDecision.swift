package import Domain

package struct PlannedDecision {
  package var event: EventSlot
  package var instance: InstanceSlot
  /// The instance's kind when it was decided; a registration may change it in the same step.
  package var kind: KindSlot
  /// Index in `commands`; −1: none.
  package var command: Int32
  package var causesStart: UInt32
  package var causesCount: UInt32
  package var ordinal: UInt32
  package var verdict: Verdict
  package var reason: Reason
  package var final: Bool
  package var surface: Surface
  package var relevance: Float
  package var value: Float
  package var price: Float
  /// −1: no limit.
  package var leftInstance: Int32
  package var leftDevice: Int32
  package var leftApp: Int32
  /// The latest instant of the next examination; the distant future where there is none.
  package var until: Timestamp
}
