import Domain

/// "No slot": the end of a chain.
let none: UInt32 = .max

/// What a planner computes with for one device, in 64 bytes.
struct DeviceState {
  var flags: Flags = []
  var zone: UInt16 = 0
  var app: UInt32 = 0
  var osVersion = OSVersion(major: 0)
  var firstInstance: UInt32 = none
  /// Last commit epoch in which the device changed.
  var touchedEpoch: UInt32 = 0
  /// Texts, read only when a decision or a command is written out: its id, and its tokens as `TokenPair.bytes`.
  var id = TextPool.noText
  var tokens = TextPool.noText
  /// GCRA of WidgetKit pushes and of background pushes.
  var pushTAT: Int64 = 0
  var backgroundTAT: Int64 = 0
  /// The last command, which may still be refunded: log offset (−1: none) and ordinal.
  var commandOffset: Int64 = -1
  /// `updatedAt` of the registration in force.
  var updatedAt: Int64 = .min
  var commandOrdinal: UInt32 = 0

  /// Which rate the last command was charged to (`Route.stored`).
  var commandRoute: UInt8 {
    get { UInt8(truncatingIfNeeded: (flags.rawValue & Flags.route.rawValue) >> 10) }
    set { flags.rawValue = flags.rawValue & ~Flags.route.rawValue | UInt16(newValue & 3) << 10 }
  }

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
    /// Its own views have taught something: `Planner.viewHabits`.
    static let habits = Flags(rawValue: 512)
    /// Two bits: `commandRoute`.
    static let route = Flags(rawValue: 1024 | 2048)
    /// It has a `RareDeviceState`.
    static let rare = Flags(rawValue: 4096)
    /// What stands in the state as flags.
    static let stored = Flags(rawValue: 1023)
  }
}

/// What few devices have at any time.
struct RareDeviceState {
  /// GCRA of Live Activity starts.
  var startTAT: Int64 = 0
  /// When the app came to the foreground; counts while it is there.
  var foregroundSince: Int64 = 0
}

/// What a planner computes with for one placed widget, in 64 bytes. What waits on it is in a `Waiting`.
struct InstanceState {
  var device: UInt32 = none
  /// Next instance of the device, by rising `index`.
  var next: UInt32 = none
  var firstEntry: UInt32 = none
  /// Slot of its `Waiting`; `none`: nothing waits and no timer is set.
  var waiting: UInt32 = none
  /// Number of its id among the planner's `instanceIDs`.
  var id: UInt32 = none
  var kind: UInt16 = 0
  var index: UInt16 = 0
  var flags: Flags = []
  var surface = InstanceSurface.widget
  /// Why what waits was held back when it was told last (`Reason.held`).
  var held: UInt8 = 0
  /// θ, this instance's base price, as a multiple of the policy's: another policy's base price holds at once. 0: takes the
  /// kind's at first use.
  var theta: Float = 0
  /// Relevance times view chance that came in lately, as of `flowAt`, and its mean over arrivals.
  var flow: Float = 0
  var flowMean: Float = 0
  /// Instants in seconds, wrapping.
  var flowAt: UInt32 = 0
  var calibratedAt: UInt32 = 0
  var lastReload: Int64 = .min
  private var window = Window()

  /// The day's count, packed.
  private struct Window {
    /// From the highest bits: 40 of the end in seconds, 16 of what is spent, 8 of the arrivals known.
    var bits: Int64 = 0
  }

  /// µs. Windows end on whole seconds, because days of all zones do; what does not is rounded up.
  var windowEnd: Int64 {
    @inline(__always) get { (window.bits >> 24) &* 1_000_000 }
    @inline(__always) set {
      let seconds = newValue / 1_000_000 + (newValue % 1_000_000 > 0 ? 1 : 0)
      window.bits = window.bits & 0xff_ffff | min(max(seconds, -Self.secondsMax), Self.secondsMax) << 24
    }
  }

  /// Tokens spent in the window that ends at `windowEnd`.
  var spent: UInt16 {
    @inline(__always) get { UInt16(truncatingIfNeeded: window.bits >> 8) }
    @inline(__always) set { window.bits = window.bits & ~0xff_ff00 | Int64(newValue) << 8 }
  }

  /// Arrivals that `flowMean` knows, up to a bound.
  var flowCount: UInt8 {
    @inline(__always) get { UInt8(truncatingIfNeeded: window.bits) }
    @inline(__always) set { window.bits = window.bits & ~0xff | Int64(newValue) }
  }

  private static let secondsMax: Int64 = 1 << 39 - 1

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
    /// When its timeline reloads by itself is in `Planner.nextReloads`.
    static let reloads = Flags(rawValue: 32)
    /// What stands in the state as flags.
    static let stored = Flags(rawValue: 31)
  }

  /// Sorts instances by device, then by their place in it.
  @inline(__always)
  var order: UInt64 { UInt64(device) << 16 | UInt64(index) }
}

/// What waits on an instance and when the instance is looked at again.
struct Waiting {
  /// Pending causes, oldest first.
  var firstCause: UInt32 = none
  var lastCause: UInt32 = none
  var causes: UInt16 = 0
  var pendingValue: Float = 0
  /// Instant for which `pendingValue` is given.
  var pendingAt: Int64 = 0
  /// When the instance must be looked at again; `.max`: never.
  var due: Int64 = .max
  /// Due time of the entry in the timer queue that stands for this instance; `.max`: none.
  var armedAt: Int64 = .max
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
  /// Subjects that were started by this push-to-start token.
  var started: [StartedSubject] = []

  /// When its rate is full again, and what it started is forgotten.
  var ledgerEnd: Int64 { started.reduce(tat) { max($0, $1.at &+ Planner.startMemory) } }

  struct StartedSubject: Equatable {
    /// Hash of the subject.
    var subject: UInt64
    /// The subject; empty where an older release started it.
    var name = ""
    /// Log time.
    var at: Int64
    /// The device has registered the activity, so it is no zombie.
    var isRegistered = false
  }
}

/// One interest key of one instance, in 28 bytes.
struct InterestEntry {
  var interest: UInt32 = none
  var instance: UInt32 = none
  /// Next entry of the instance.
  var next: UInt32 = none
  // Halves of the fingerprints: whole ones would round the size up to 32.
  private var shownLow: UInt32 = 0
  private var shownHigh: UInt32 = 0
  private var currentLow: UInt32 = 0
  private var currentHigh: UInt32 = 0

  init() {}

  init(interest: UInt32, instance: UInt32) {
    self.interest = interest
    self.instance = instance
  }

  /// Fingerprint that the instance shows since its last reload; 0: not known.
  var shown: UInt64 {
    @inline(__always) get { UInt64(shownHigh) << 32 | UInt64(shownLow) }
    @inline(__always) set {
      shownLow = UInt32(truncatingIfNeeded: newValue)
      shownHigh = UInt32(truncatingIfNeeded: newValue >> 32)
    }
  }

  /// Fingerprint of the newest event; 0: none yet.
  var current: UInt64 {
    @inline(__always) get { UInt64(currentHigh) << 32 | UInt64(currentLow) }
    @inline(__always) set {
      currentLow = UInt32(truncatingIfNeeded: newValue)
      currentHigh = UInt32(truncatingIfNeeded: newValue >> 32)
    }
  }
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
