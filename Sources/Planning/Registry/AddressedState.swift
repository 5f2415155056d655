import Domain

/// The additional state of instances that have a push token of their own: controls, activities and push-to-start tokens.
struct AddressedState {
  /// The token, or the id of a broadcast channel.
  var token = ""
  /// Whether `token` is the id of a broadcast channel.
  var isChannel = false
  /// Whether APNs has refused the token for good.
  var tokenDead = false
  /// Whether the person allows frequent updates.
  var frequentPushes = false
  /// Whether the activity is over: an end push was sent, its life has ended, or the device has reported it.
  var ended = false
  /// The rate of the control's pushes, or of the activity's priority-10 pushes.
  var rate = RateState()
  /// The `timestamp` in the payload of the last push, in Unix seconds. The next one must be larger.
  var timestamp: Int64 = 0
  /// The instant at which the activity was started.
  var startedAt = Timestamp(microseconds: 0)
  /// The log time of the last event that was pushed to the activity, or of its registration.
  var lastEventAt = Timestamp(microseconds: 0)
  /// The subjects for which activities were started by this push-to-start token.
  var started: [StartedSubject] = []

  /// The instant from which the state need not be kept: the rate is full again and all starts are forgotten.
  var ledgerEnd: Timestamp { started.reduce(rate.tat) { max($0, $1.at + ActivityTimes.startMemory) } }

  /// A subject for which an activity was started.
  struct StartedSubject: Equatable {
    /// The hash of the subject.
    var subject: UInt64
    /// The subject.
    var name: Identifier = ""
    /// The log time of the start.
    var at: Timestamp
    /// Whether the device has registered the activity. If not, it can be neither updated nor ended (a zombie).
    var isRegistered = false
  }
}

/// Times that the platform sets for Live Activities.
enum ActivityTimes {
  /// The time after which the system ends an activity by itself. Source: Apple, "Displaying live data with Live Activities".
  static let life = TimeSpan.hours(8)
  /// The time for which a start is remembered: the 8 h of an activity's life, and the 4 h that it may stay on the lock screen
  /// after that.
  static let startMemory = TimeSpan.hours(12)
}
