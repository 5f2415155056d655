import Domain

extension InstanceState {
  /// Returns those parts of the instance's record whose presence follows from the instance's own state and its timer.
  /// The caller adds the others.
  /// - Parameters:
  ///   - expected: The index that the instance has if the record does not hold one.
  ///   - due: The time of the instance's timer; the distant future if there is none.
  func parts(expectedAt expected: Int, due: Timestamp) -> InstanceRecordBits {
    var parts: InstanceRecordBits = []
    var (noted, nextReload, due, base, noter) = (self, Timestamp.distantPast, due, Int64(0), PartNoter())
    noted.numbers(expectedAt: expected, nextReload: &nextReload, due: &due, &parts, since: &base, &noter)
    return parts
  }

  /// Passes each number of the instance's part of a device's record to a coder, which notes, writes or reads it.
  /// - Parameters:
  ///   - expected: The index that the instance has if the record does not hold one.
  ///   - nextReload: The time at which the timeline reloads by itself; used only if `parts` holds it.
  ///   - due: The time of the instance's timer; the distant future if there is none.
  ///   - parts: The parts that are present.
  ///   - base: The instant to which the next instant in the record is relative, in µs.
  ///   - coder: The coder.
  /// - Throws: The coder's error.
  @inline(__always)
  mutating func numbers<Coder: StateCoder & ~Copyable & ~Escapable>(
    expectedAt expected: Int, nextReload: inout Timestamp, due: inout Timestamp, _ parts: inout InstanceRecordBits,
    since base: inout Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    if Coder.codes(.pushEnabled, flags.contains(.pushEnabled), &parts) { flags.insert(.pushEnabled) }
    if Coder.codes(.retired, flags.contains(.retired), &parts) { flags.insert(.retired) }
    if Coder.codes(.awaitsPush, flags.contains(.awaitsPush), &parts) { flags.insert(.awaitsPush) }
    if Coder.codes(.awaitsTimeline, flags.contains(.awaitsTimeline), &parts) { flags.insert(.awaitsTimeline) }
    if Coder.codes(.index, Int(index) != expected, &parts) { try coder.varint(&index, "an index") }
    if Coder.codes(.surface, surface != .widget, &parts) { try coder.tag(&surface, "a surface") }
    if Coder.codes(.held, heldFor != .none, &parts) {
      var number = heldFor.number
      try coder.uint8(&number, "a reason")
      heldFor = HeldReason(number: number)
    }
    if Coder.codes(.lastReload, lastReload != .distantPast, &parts) {
      try coder.instant(&lastReload, movingBase: &base, "the time of a reload")
    }
    // The pass that notes the parts changes `day`.
    let isRefundable = day.chargedByLast
    try day.numbers(&parts, since: base, &coder)
    try demand.numbers(&parts, since: base, &coder)
    if Coder.codes(.lastWorth, isRefundable && demand.lastWorth != 0, &parts) {
      try coder.float(&demand.lastWorth, "the worth of a push")
      try coder.float(&demand.lastWorthSum, "the worth of a push")
      try coder.uint8(&demand.lastHour, "an hour")
    }
    if Coder.codes(.nextReload, flags.contains(.reloads), &parts) {
      try coder.instant(&nextReload, since: base, "the time of a reload")
    }
    if Coder.codes(.due, due != .distantFuture, &parts) { try coder.instant(&due, since: base, "the time of a timer") }
  }
}

extension DayWindow {
  @inline(__always)
  fileprivate mutating func numbers<Coder: StateCoder & ~Copyable & ~Escapable>(
    _ parts: inout InstanceRecordBits, since base: Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    var (end, spent) = (end, spent)
    let isRolling = Coder.codes(.rolling, isRolling, &parts)
    let chargedByLast = Coder.codes(.chargedByLast, chargedByLast, &parts)
    let chargedByTimeline = Coder.codes(.chargedByTimeline, chargedByTimeline, &parts)
    if Coder.codes(.spent, spent != 0, &parts) { try coder.varint(&spent, "tokens spent") }
    if Coder.codes(.windowEnd, end.microseconds != 0, &parts) {
      try coder.wholeSecond(&end, since: base, "the end of a window")
    }
    self = DayWindow(
      end: end, spent: spent, isRolling: isRolling, chargedByLast: chargedByLast, chargedByTimeline: chargedByTimeline)
  }
}

extension DemandState {
  @inline(__always)
  fileprivate mutating func numbers<Coder: StateCoder & ~Copyable & ~Escapable>(
    _ parts: inout InstanceRecordBits, since base: Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    if Coder.codes(.demandDays, needSum != 0 || worthSum != 0 || days != 0, &parts) {
      try coder.float(&needSum, "the need of past days")
      try coder.float(&worthSum, "the worth of past days")
      try coder.float(&days, "past days")
    }
    if Coder.codes(.demandToday, needToday != 0 || worthToday != 0, &parts) {
      try coder.float(&needToday, "the need of a day")
      try coder.float(&worthToday, "the worth of a day")
    }
    if Coder.codes(.demandRecent, needRecent != 0 || worthRecent != 0 || recentAt != 0, &parts) {
      try coder.float(&needRecent, "the need of two hours")
      try coder.float(&worthRecent, "the worth of two hours")
      try coder.second(&recentAt, since: base, "the time of a memory")
    }
    if Coder.codes(.countedAt, countedAt != 0, &parts) {
      try coder.second(&countedAt, since: base, "the time of a change")
    }
    if Coder.codes(.unseenShare, unseenShare != 0, &parts) { try coder.float(&unseenShare, "a share of a day") }
    if Coder.codes(.startHours, startHours != 0, &parts) { try coder.float(&startHours, "the start of a day") }
  }
}
