import Domain

/// The state of one device that decisions are computed with, in 72 bytes.
struct DeviceState {
  var flags: Flags = []
  /// The number of the device's time zone in `ZoneTable`.
  var zoneNumber: UInt16 = 0
  var app = AppSlot(0)
  var osVersion = OSVersion(major: 0)
  /// The first of the device's instances, which are chained by rising `index`.
  var firstInstance = InstanceSlot.absent
  /// The journal's mark: the last commit in which the device changed.
  var journalMark = JournalMark()
  /// The device's id, read only when a decision or a command is written out.
  var id = TextHandle.absent
  /// The device's tokens as `TokenPair.bytes`, read only when a command is written out.
  var tokens = TextHandle.absent
  /// The rate of WidgetKit pushes.
  var pushRate = RateState()
  /// The rate of background pushes.
  var backgroundRate = RateState()
  /// `updatedAt` of the registration in force.
  var updatedAt = Timestamp.distantPast
  /// The last charged command, which may still be refunded.
  var lastCommand = LastCommand()

  var zone: ZoneSlot {
    @inline(__always) get { ZoneSlot(UInt32(zoneNumber)) }
    set { zoneNumber = UInt16(truncatingIfNeeded: newValue.number) }
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
    /// A tombstone has removed the device. It is kept without tokens until its ledgers have run out, so that registering
    /// anew refills nothing.
    static let forgotten = Flags(rawValue: 256)
    /// The device's own views have been learnt from: `Pricing.habits`.
    static let habits = Flags(rawValue: 512)
    /// The registry holds a `RareDeviceState` of the device.
    static let rare = Flags(rawValue: 4096)
    /// The flags that the state record holds as they are.
    static let stored = Flags(rawValue: 1023)
  }
}

/// The state that few devices have at any time.
struct RareDeviceState {
  /// The rate of Live Activity starts.
  var startRate = RateState()
  /// The instant at which the app came to the foreground; 1970 while it is not there.
  var foregroundSince = Timestamp(microseconds: 0)

  var isEmpty: Bool { startRate.isFull && foregroundSince.microseconds == 0 }
}
