import Domain

/// The state that instances with an address of their own have besides: controls, activities and push-to-start tokens.
struct AddressedState {
  var token = ""
  /// Whether `token` is the id of a broadcast channel.
  var isChannel = false
  var tokenDead = false
  /// Whether the person allows frequent updates.
  var frequentPushes = false
  /// Whether the activity is over: by an end push, by its life, or because the device said so.
  var ended = false
  /// The rate of the control's pushes, or of the activity's priority-10 pushes.
  var rate = RateState()
  /// `timestamp` of the last push in Unix seconds, strictly rising.
  var timestamp: Int64 = 0
  var startedAt = Timestamp(microseconds: 0)
  /// The log time of the last event that the activity was told of, or of its registration.
  var lastEventAt = Timestamp(microseconds: 0)
  /// The subjects that were started by this push-to-start token.
  var started: [StartedSubject] = []

  /// The instant at which its rate is full again and what it started is forgotten.
  var ledgerEnd: Timestamp { started.reduce(rate.tat) { max($0, $1.at + ActivityTimes.startMemory) } }

  struct StartedSubject: Equatable {
    /// The hash of the subject.
    var subject: UInt64
    var name = ""
    /// The log time of the start.
    var at: Timestamp
    /// Whether the device has registered the activity, so that it is no zombie.
    var isRegistered = false
  }
}

/// Times that the platform sets for Live Activities.
enum ActivityTimes {
  /// The time after which the system has ended an activity by itself. Source: Apple, Displaying live data with Live
  /// Activities.
  static let life = TimeSpan.hours(8)
  /// The time for which a start is remembered: the life of an activity and the hours it may stay on the lock screen.
  static let startMemory = TimeSpan.hours(12)
}
