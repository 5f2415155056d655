import Domain

/// "No slot": the end of a chain.
let none: UInt32 = .max

/// What a planner computes with for one device. Plain numbers only; texts are in `DeviceNames`.
struct DeviceState {
  var flags: Flags = []
  var app: UInt32 = 0
  var zone: UInt16 = 0
  var osVersion = OSVersion(major: 0)
  var firstInstance: UInt32 = none
  /// Last commit epoch in which the device changed.
  var touchedEpoch: UInt32 = 0
  /// GCRA of WidgetKit pushes and of background pushes.
  var pushTAT: Int64 = 0
  var backgroundTAT: Int64 = 0
  /// GCRA of Live Activity starts.
  var startTAT: Int64 = 0
  /// When the app came to the foreground.
  var foregroundSince: Int64 = 0
  /// The last command, which may still be refunded: log offset (−1: none) and ordinal.
  var commandOffset: Int64 = -1
  var commandOrdinal: UInt32 = 0
  /// Which rate it was charged to (`Route.stored`).
  var commandRoute: UInt8 = 0
  /// `updatedAt` of the registration in force.
  var updatedAt: Int64 = .min

  struct Flags: OptionSet {
    var rawValue: UInt16
    static let used = Flags(rawValue: 1)
    static let production = Flags(rawValue: 2)
    static let developerMode = Flags(rawValue: 4)
    static let foreground = Flags(rawValue: 8)
    static let widgetsToken = Flags(rawValue: 16)
    static let widgetsTokenDead = Flags(rawValue: 32)
    static let backgroundToken = Flags(rawValue: 64)
    static let backgroundTokenDead = Flags(rawValue: 128)
    /// Forgotten by a tombstone: kept without tokens until its ledgers have run out, so that registering anew refills
    /// nothing.
    static let forgotten = Flags(rawValue: 256)
  }
}

/// The texts of one device, read only when a decision or a command is written out.
struct DeviceNames {
  var id = ""
  var tokens = TokenPair()
}

/// What a planner computes with for one placed widget.
struct InstanceState {
  var device: UInt32 = none
  /// Next instance of the device, by rising `index`.
  var next: UInt32 = none
  var firstEntry: UInt32 = none
  /// Pending causes, oldest first.
  var firstCause: UInt32 = none
  var lastCause: UInt32 = none
  var kind: UInt32 = 0
  /// Tokens spent in the window that ends at `windowEnd`.
  var spent: UInt16 = 0
  var causes: UInt16 = 0
  /// Arrivals that `flowMean` knows, up to a bound.
  var flowCount: UInt16 = 0
  var index: UInt16 = 0
  var flags: Flags = []
  var surface = InstanceSurface.widget
  /// Why what waits was held back when it was told last (`Reason.held`).
  var held: UInt8 = 0
  var pendingValue: Float = 0
  /// θ, this instance's base price, as a multiple of the policy's: another policy's base price holds at once. 0: takes the
  /// kind's at first use.
  var theta: Float = 0
  /// Relevance times view chance that came in lately, as of `flowAt`, and its mean over arrivals.
  var flow: Float = 0
  var flowMean: Float = 0
  /// Instants in seconds, wrapping.
  var flowAt: UInt32 = 0
  var calibratedAt: UInt32 = 0
  /// Instant for which `pendingValue` is given.
  var pendingAt: Int64 = 0
  var windowEnd: Int64 = 0
  var lastReload: Int64 = .min
  var nextReload: Int64 = .min
  /// When the instance must be looked at again; `.max`: never.
  var due: Int64 = .max
  /// Due time of the entry in the timer queue that stands for this instance; `.max`: none.
  var armedAt: Int64 = .max

  struct Flags: OptionSet {
    var rawValue: UInt8
    static let used = Flags(rawValue: 1)
    static let pushEnabled = Flags(rawValue: 2)
    /// No longer registered; only its ledger is kept, until its window ends.
    static let retired = Flags(rawValue: 4)
    /// Charged by the device's refundable command.
    static let chargedByLast = Flags(rawValue: 8)
    /// Its charges of the last 24 h are in `Planner.rollingCharges`.
    static let rolling = Flags(rawValue: 16)
  }

  /// Sorts instances by device, then by their place in it.
  @inline(__always)
  var order: UInt64 { UInt64(device) << 16 | UInt64(index) }
}

/// What an instance is.
enum InstanceSurface: UInt8 {
  case widget, control
  /// A running Live Activity.
  case activity
  /// A push-to-start token: something that can start activities of its kind.
  case starter

  var isActivity: Bool { self == .activity || self == .starter }
}

/// What instances with an address of their own have besides: controls, activities and push-to-start tokens.
struct AddressedState {
  var token = ""
  /// `token` is the id of a broadcast channel.
  var isChannel = false
  var tokenDead = false
  /// The person allows frequent updates.
  var frequentPushes = false
  /// The activity is over: by an end push, by its life, or because the device said so.
  var ended = false
  /// GCRA of the control's pushes, or of the activity's priority-10 pushes.
  var tat: Int64 = 0
  /// `timestamp` of the last push, Unix seconds; strictly rising.
  var timestamp: Int64 = 0
  var startedAt: Int64 = 0
  /// Log time of the last event that it was told of, or of its registration.
  var lastEventAt: Int64 = 0
  /// Subjects that were started by this push-to-start token: hash and log time.
  var started: [StartedSubject] = []

  struct StartedSubject: Equatable {
    var subject: UInt64
    var at: Int64
    /// The device has registered the activity, so it is no zombie.
    var isRegistered = false
  }
}

/// What is rarely needed of an instance.
struct InstanceNames {
  var id = ""
}

/// One interest key of one instance.
struct InterestEntry {
  var interest: UInt32 = none
  var instance: UInt32 = none
  /// Next entry of the instance.
  var next: UInt32 = none
  /// Fingerprint that the instance shows since its last reload; 0: not known.
  var shown: UInt64 = 0
  /// Fingerprint of the newest event; 0: none yet.
  var current: UInt64 = 0
}

/// One event that waits on one instance.
struct Cause {
  /// Slot in the event table.
  var event: UInt32 = none
  var next: UInt32 = none
  /// Interest entry by which the event came.
  var entry: UInt32 = none
  /// Relevance; negative where the event shows what waits already, so that it adds no value.
  var signedRelevance: Float = 0
  /// Log time of arrival.
  var at: Int64 = 0
  var expires: Int64 = 0

  var relevance: Float { signedRelevance.magnitude }
  /// What showing it would add to what the others show.
  var value: Float { max(0, signedRelevance) }
}

/// An event that decisions refer to; lives as long as something refers to it.
struct EventEntry {
  var id = ""
  var traceparent: String?
  var references: UInt32 = 0
}

/// One app: its share of the app ledger.
struct AppState {
  var id: String
  /// Tokens of this partition per UTC day; −1: no limit.
  var limit: Int = -1
  var spent: Int = 0
  /// UTC day (days since 1970) that `spent` counts.
  var day: Int64 = .min
  /// Whether it changed since the last commit.
  var touched = false
}
