import Domain
import Policies

/// The verdict on the current event for a Live Activity or a push-to-start token. Computing it changes nothing;
/// `Fleet.apply` carries it out.
struct ActivityVerdict {
  /// The reason why nothing is pushed; nil when `push` is sent.
  var reason: Reason?
  /// The relevance of the event for the activity, 0…1.
  var relevance: Float
  /// The fingerprint of the content that the interest entry would show after a push now; nil when the event does not change it.
  var current: KeyedHash?
  /// Whether the event is worth showing on the activity, pushed or not. Then it counts as a change in the demand of the kind.
  var isChange = false
  var lane = Lane()
  var push: Push?
  /// The size of a body near or above the platform's limit, and the action of that push; nil for a smaller body.
  var largePayload: (size: Size, action: Rule.Action)?

  /// The size of a body, or of an activity's data where that is what is too large.
  struct Size {
    var band: PayloadBand
    /// Bytes.
    var bytes: Int
    /// The largest size that the platform takes, in bytes.
    var bytesMax: Int
  }

  /// The priority of an activity push, and the ledger that it is charged to.
  struct Lane {
    /// The APNs priority. 10 is charged, 5 is free.
    var priority: UInt8 = 5
    /// Whether quiet hours hold for the event. Then an update or an end wakes nobody: it has priority 5, at which no push has an alert.
    var isQuiet = false
    /// The ledger that is charged; nil for a free push.
    var ledger: Command.Ledger?
    var weighing = Weighing()
    /// D, how wrong the screen is: the relevance of the event, 0…1.
    var distance = 0.0
    /// V, the number of looks at the screen that are expected in the next 20 minutes.
    var looks = 0.0
    /// The reason why a start is not made; nil if nothing forbids it.
    var refused: Reason?
  }

  /// The push that is sent.
  struct Push {
    /// The `timestamp` of the push, in Unix seconds.
    var timestamp: Int64
    var body: String
    var band: PayloadBand
    var isEnd: Bool
    /// The importance of the activity, 0…1.
    var score: Float = 0
    /// The subject of the activity that the push starts; nil when it starts none.
    var starts: Identifier?
  }
}
