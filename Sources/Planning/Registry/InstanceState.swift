import Domain

/// The state of one placed widget, control or activity that decisions read, in 96 bytes. Its pending events are in `Pending`.
struct InstanceState {
  /// The demand learnt from the instance: the visible changes that came, and the worth of its pushes.
  var demand = DemandState()
  /// The yes-or-no facts about the instance.
  var flags: Flags = []
  private var kindNumber: UInt16 = 0
  /// The number of the instance in its device. It never changes.
  var index: UInt16 = 0
  /// The sort of thing that the instance is.
  var surface = InstanceSurface.widget
  /// The reason that the last decision gave for holding the pending events back; none if no decision has said so.
  var heldFor = HeldReason.none
  /// The device of the instance.
  var device = DeviceSlot.absent
  /// The next instance of the device, by rising `index`.
  var next = InstanceSlot.absent
  /// The first interest entry of the instance. Entries are chained in the order of the registration.
  var firstEntry = EntrySlot.absent
  /// The slot of the instance in `Pending`; absent if no event waits and no timer is set.
  var waiting = WaitingSlot.absent
  /// The number of the instance's id in `Registry.instanceIDs`.
  var id = SharedTextNumber.absent
  /// The log time of the last reload that is known; the distant past if there was none.
  var lastReload = Timestamp.distantPast
  /// The count of the tokens that were spent in the budget day.
  var day = DayWindow()

  /// The kind of the instance.
  var kind: KindSlot {
    get { KindSlot(UInt32(kindNumber)) }
    set { kindNumber = UInt16(truncatingIfNeeded: newValue.number) }
  }

  /// Yes-or-no facts about an instance.
  struct Flags: OptionSet {
    var rawValue: UInt8
    /// The slot holds an instance.
    static let used = Flags(rawValue: 1)
    /// The widget has a push handler, so that a WidgetKit push reloads it.
    static let pushEnabled = Flags(rawValue: 2)
    /// The instance is no longer registered. Its ledger is kept until its window ends.
    static let retired = Flags(rawValue: 4)
    /// The fetch of the last push has not been told.
    static let awaitsPush = Flags(rawValue: 8)
    /// The fetch of a reload of the timeline has not been told. The reload was charged when the time had passed that the registration
    /// names.
    static let awaitsTimeline = Flags(rawValue: 16)
    /// The registration says when the timeline reloads by itself (`Registry.nextReload`).
    static let reloads = Flags(rawValue: 32)
    /// The instance has changed since the last commit that wrote its device.
    static let changed = Flags(rawValue: 64)
  }

  /// The sort key of instances: the device, then the index.
  var order: UInt64 { UInt64(device.number) << 16 | UInt64(index) }
}

/// The sort of thing that an instance is.
enum InstanceSurface: UInt8, CaseIterable {
  /// A placed widget.
  case widget
  /// A placed control.
  case control
  /// A running Live Activity.
  case activity
  /// A push-to-start token, with which activities of its kind are started.
  case starter

  /// Whether it is a Live Activity or starts some.
  var isActivity: Bool {
    switch self {
    case .activity, .starter: true
    case .widget, .control: false
    }
  }
}

/// One interest key of one instance, in 52 bytes.
struct InterestEntry {
  /// The interest key.
  var interest = InterestSlot.absent
  /// The instance that listens to it.
  var instance = InstanceSlot.absent
  /// The next entry of the instance.
  var next = EntrySlot.absent
  /// The content of the instance's screen behind the key.
  var screen = EntryScreen()

  /// Creates the value of a free slot.
  init() {}

  /// Creates an entry that is in no chain yet and shows nothing that is known.
  init(interest: InterestSlot, instance: InstanceSlot) {
    self.interest = interest
    self.instance = instance
  }
}
