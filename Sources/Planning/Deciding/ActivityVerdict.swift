import Domain
import Policies

/// The verdict on the event in hand for a Live Activity or a push-to-start token. Computing it changes nothing;
/// `Planner.apply(_:entry:instance:device:into:)` carries it out.
struct ActivityVerdict {
  /// The reason why nothing is pushed; nil when `push` goes out.
  var reason: Reason?
  /// The fingerprint that the entry would show if it were reloaded now; nil where it stays as it is.
  var current: UInt64?
  /// Whether the event counts as a sign of life of the activity's subject.
  var isHeard = false
  var lane = Lane()
  var push: Push?
  /// A body that is near or above the platform's limit, with the action that it is made for.
  var largePayload: (band: PayloadBand, bytes: Int, action: Rule.Action)?

  /// The way in which an activity push goes out.
  struct Lane {
    /// The APNs priority. 10 is charged, 5 is free.
    var priority: UInt8 = 5
    /// The ledger that is charged; nil where none is.
    var ledger: Command.Ledger?
    var weighing = Weighing()
    /// The reason why a start is not made.
    var refused: Reason?
  }

  /// The push that goes out.
  struct Push {
    /// `timestamp` of the push, Unix seconds.
    var timestamp: Int64
    var body: String
    var band: PayloadBand
    var isEnd: Bool
    /// The subject whose activity it starts; nil where it starts none.
    var starts: String?
  }
}
