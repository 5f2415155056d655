import Domain

/// The state of one placed widget, control or activity that decisions are computed with, in 64 bytes. What waits on it is in
/// `Pending`.
struct InstanceState {
  /// The instance's own price, learnt by `Pricing`.
  var price = PriceState()
  var flags: Flags = []
  private var kindNumber: UInt16 = 0
  /// The place of the instance in its device.
  var index: UInt16 = 0
  var surface = InstanceSurface.widget
  /// The reason for which what waits was held back when a decision last said so; nil when none did.
  var heldFor = HeldReason.none
  var device = DeviceSlot.absent
  /// The next instance of the device, by rising `index`.
  var next = InstanceSlot.absent
  var firstEntry = EntrySlot.absent
  /// What waits on the instance; absent where nothing waits and no timer is set.
  var waiting = WaitingSlot.absent
  var id = SharedTextNumber.absent
  var lastReload = Timestamp.distantPast
  /// The day's count of tokens.
  var day = DayWindow()

  var kind: KindSlot {
    @inline(__always) get { KindSlot(UInt32(kindNumber)) }
    @inline(__always) set { kindNumber = UInt16(truncatingIfNeeded: newValue.number) }
  }

  struct Flags: OptionSet {
    var rawValue: UInt8
    static let used = Flags(rawValue: 1)
    static let pushEnabled = Flags(rawValue: 2)
    /// The instance is no longer registered; only its ledger is kept, until its window ends.
    static let retired = Flags(rawValue: 4)
    /// The registry knows when its timeline reloads by itself (`Registry.nextReload`).
    static let reloads = Flags(rawValue: 32)
  }

  /// The sort key of instances: by device, then by their place in it.
  @inline(__always)
  var order: UInt64 { UInt64(device.number) << 16 | UInt64(index) }
}

/// The sort of thing that an instance is.
enum InstanceSurface: UInt8 {
  case widget, control
  /// A running Live Activity.
  case activity
  /// A push-to-start token: something that can start activities of its kind.
  case starter

  var isActivity: Bool {
    switch self {
    case .activity, .starter: true
    case .widget, .control: false
    }
  }
}

/// One interest key of one instance, in 28 bytes.
struct InterestEntry {
  var interest = InterestSlot.absent
  var instance = InstanceSlot.absent
  /// The next entry of the instance.
  var next = EntrySlot.absent
  // Halves of the fingerprints: whole ones would round the size up to 32.
  private var shownLow: UInt32 = 0
  private var shownHigh: UInt32 = 0
  private var currentLow: UInt32 = 0
  private var currentHigh: UInt32 = 0

  init() {}

  init(interest: InterestSlot, instance: InstanceSlot) {
    self.interest = interest
    self.instance = instance
  }

  /// The fingerprint that the instance shows since its last reload; 0 where that is not known.
  var shown: UInt64 {
    @inline(__always) get { UInt64(shownHigh) << 32 | UInt64(shownLow) }
    @inline(__always) set {
      shownLow = UInt32(truncatingIfNeeded: newValue)
      shownHigh = UInt32(truncatingIfNeeded: newValue >> 32)
    }
  }

  /// The fingerprint that the instance would show if it were reloaded now; 0 where no event came yet.
  var current: UInt64 {
    @inline(__always) get { UInt64(currentHigh) << 32 | UInt64(currentLow) }
    @inline(__always) set {
      currentLow = UInt32(truncatingIfNeeded: newValue)
      currentHigh = UInt32(truncatingIfNeeded: newValue >> 32)
    }
  }

  /// Whether the screen shows what a reload would show. False as long as either is unknown.
  @inline(__always)
  var isShown: Bool { shown != 0 && shown == current }
}
