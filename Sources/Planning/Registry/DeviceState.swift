import Domain

/// The state of one device that decisions read, in 88 bytes.
struct DeviceState {
  /// The yes-or-no facts about the device.
  var flags: Flags = []
  /// The number of the device's time zone in `ZoneTable`.
  var zoneNumber: UInt16 = 0
  /// The app of which the device is an install.
  var app = AppSlot(0)
  /// The version of the operating system.
  var osVersion = OSVersion(major: 0)
  /// The first instance of the device. Instances are chained by rising `index`.
  var firstInstance = InstanceSlot.absent
  /// The place of the device's newest version in the chunks of `rouse.state`.
  var chunkPlace = ChunkPlace.unwritten
  /// The device's id, read only when a decision or a command is written out.
  var id = TextHandle.absent
  /// The device's tokens as `TokenPair.bytes`, read only when a command is written out.
  var tokens = TextHandle.absent
  /// The tokens spent of the rate of WidgetKit pushes.
  var pushRate = RateState()
  /// The tokens spent of the rate of background pushes.
  var backgroundRate = RateState()
  /// The surplus of the pushes in the fading memory of the last two hours, by rate.
  var surplus = PushSurplus()
  /// The `updatedAt` of the registration in force, or the log time of its arrival if that was earlier.
  var updatedAt = Timestamp.distantPast
  /// The last charged command, which may still be refunded.
  var lastCommand = LastCommand()

  /// The device's time zone.
  var zone: ZoneSlot {
    get { ZoneSlot(UInt32(zoneNumber)) }
    set { zoneNumber = UInt16(truncatingIfNeeded: newValue.number) }
  }

  /// Yes-or-no facts about a device.
  struct Flags: OptionSet {
    var rawValue: UInt16
    /// The slot holds a device.
    static let used = Flags(rawValue: 1)
    /// The APNs environment is `production`, not `sandbox`.
    static let production = Flags(rawValue: 2)
    /// WidgetKit developer mode is on: reloads are free.
    static let developerMode = Flags(rawValue: 4)
    /// The app is in the foreground: reloads are free.
    static let foreground = Flags(rawValue: 8)
    /// The device has a token for WidgetKit pushes.
    static let widgetsToken = Flags(rawValue: 16)
    /// APNs has permanently refused the token for WidgetKit pushes.
    static let widgetsTokenDead = Flags(rawValue: 32)
    /// The device has a token for background pushes.
    static let backgroundToken = Flags(rawValue: 64)
    /// APNs has permanently refused the token for background pushes.
    static let backgroundTokenDead = Flags(rawValue: 128)
    /// A tombstone has removed the device. It is kept without tokens until its ledgers are full again, so that an app cannot
    /// refill them by registering anew.
    static let forgotten = Flags(rawValue: 256)
    /// `Pricing.viewHabits` holds the habits of the device.
    static let habits = Flags(rawValue: 512)
    /// The next commit writes the device.
    static let changed = Flags(rawValue: 1024)
    /// The next commit writes the device whole, because more has changed than an addition holds (`DeviceForm`).
    static let rebuilt = Flags(rawValue: 2048)
    /// The habits have changed since the last commit.
    static let habitsChanged = Flags(rawValue: 8192)
    /// The registry holds a `RareDeviceState` of the device.
    static let rare = Flags(rawValue: 4096)
    /// The flags that are written to the state record. The others follow from the rest of the state.
    static let stored = Flags(rawValue: 1023)
  }
}

/// The state that only a few devices have at any time.
struct RareDeviceState {
  /// The tokens spent of the rate of Live Activity starts.
  var startRate = RateState()
  /// The instant at which the app came to the foreground; 1970 while it is in the background.
  var foregroundSince = Timestamp(microseconds: 0)
  /// The log times of the refunds of the last 24 hours, oldest first. Older ones are left until the next refund.
  var refunds: [Timestamp] = []
  /// The changes that came while the app was in the foreground, oldest first; at most `ShownBefore.changesMax`.
  var shownBefore: [ShownBefore] = []

  /// Whether the state is that of a new device, so that it need not be stored.
  var isEmpty: Bool {
    startRate.isFull && foregroundSince.microseconds == 0 && refunds.isEmpty && shownBefore.isEmpty
  }

  /// Returns the refunds of the last 24 hours.
  func refunds(now: Timestamp) -> ArraySlice<Timestamp> { refunds.drop { now - $0 >= .hours(24) } }
}
