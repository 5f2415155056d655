import Domain

extension DeviceState {
  /// Returns those parts of the device's record whose presence follows from the device's own state. The caller adds the
  /// others.
  /// - Parameters:
  ///   - rare: The device's rare state.
  ///   - form: The form of the record.
  func parts(_ rare: RareDeviceState, _ form: DeviceForm) -> DeviceRecordBits {
    var parts = DeviceRecordBits(rawValue: UInt32(flags.intersection(.stored).rawValue))
    var (noted, notedRare, base, noter) = (self, rare, Int64(0), PartNoter())
    if form == .whole {
      parts.note(.tokens, !tokens.isAbsent)
      noted.registeredNumbers(&parts, since: &base, &noter)
    }
    noted.numbers(&notedRare, &parts, since: &base, &noter)
    return parts
  }

  /// Passes each number that a registration brings to a coder, which notes, writes or reads it. The parameters are among those of
  /// `numbers`.
  /// - Throws: The coder's error.
  @inline(__always)
  mutating func registeredNumbers<Coder: StateCoder & ~Copyable & ~Escapable>(
    _ parts: inout DeviceRecordBits, since base: inout Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.varint(&osVersion.major, "a version")
    try coder.varint(&osVersion.minor, "a version")
    if Coder.codes(.updatedAt, updatedAt != .distantPast, &parts) {
      try coder.instant(&updatedAt, movingBase: &base, "the time of a registration")
    }
  }

  /// The instant to which the first instant of an addition is relative, in µs.
  var additionBase: Int64 { updatedAt == .distantPast ? 0 : updatedAt.microseconds }

  /// The state without what `numbers` codes, for a restore.
  var withoutNumbers: DeviceState {
    var state = self
    state.pushRate = RateState()
    state.backgroundRate = RateState()
    state.surplus = PushSurplus()
    state.lastCommand = LastCommand()
    return state
  }

  /// Passes each number that decisions and signals change to a coder, which notes, writes or reads it.
  /// - Parameters:
  ///   - rare: The device's rare state.
  ///   - parts: The parts that are present.
  ///   - base: The instant to which the next instant in the record is relative, in µs.
  ///   - coder: The coder.
  /// - Throws: The coder's error.
  @inline(__always)
  mutating func numbers<Coder: StateCoder & ~Copyable & ~Escapable>(
    _ rare: inout RareDeviceState, _ parts: inout DeviceRecordBits, since base: inout Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    if Coder.codes(.pushTAT, !pushRate.isFull, &parts) {
      try coder.instant(&pushRate, since: base, "a TAT")
      base = pushRate.tat.microseconds
    }
    if Coder.codes(.backgroundTAT, !backgroundRate.isFull, &parts) {
      try coder.instant(&backgroundRate, since: base, "a background TAT")
    }
    if Coder.codes(.surplus, surplus != PushSurplus(), &parts) { try surplus.numbers(since: base, &coder) }
    if Coder.codes(.startTAT, !rare.startRate.isFull, &parts) {
      try coder.instant(&rare.startRate, since: base, "a start TAT")
    }
    if Coder.codes(.foregroundSince, rare.foregroundSince.microseconds != 0, &parts) {
      try coder.instant(&rare.foregroundSince, since: base, "an instant")
    }
    if Coder.codes(.command, lastCommand != LastCommand(), &parts) { try lastCommand.fields(&coder) }
  }
}

extension LastCommand {
  @inline(__always)
  fileprivate mutating func fields<Coder: StateCoder & ~Copyable & ~Escapable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var (offset, ordinal, rate) = (offset, ordinal, rate)
    try coder.tag(&rate, "a rate")
    try coder.zigzag(&offset, "an offset")
    try coder.varint(&ordinal, "an ordinal")
    self = LastCommand(offset: offset, ordinal: ordinal, rate: rate)
  }
}

extension StateCoder where Self: ~Copyable, Self: ~Escapable {
  /// Codes the theoretical arrival time of a rate, relative to `base`. µs.
  @inline(__always)
  mutating func instant(_ rate: inout RateState, since base: Int64, _ what: StaticString) throws(Failure) {
    var tat = rate.tat
    try instant(&tat, since: base, what)
    rate = RateState(tat: tat)
  }
}
