import Domain
import JSON

extension Pending {
  /// Returns the number of events that a command leaves out of its list for one instance: the oldest ones, as many as are
  /// needed to keep the list within `DomainBounds.servedEventBytesMax`. The newest event is always listed.
  /// - Parameter events: The events that the command delivers to the instance, oldest first.
  @inline(__always)
  func eventsLeftOut(_ events: ArraySlice<EventSlot>) -> Int {
    // Two ids of the largest size fit, whatever they consist of.
    events.count > 2 ? countEventsLeftOut(events) : 0
  }

  private func countEventsLeftOut(_ events: ArraySlice<EventSlot>) -> Int {
    // Nearly always all fit, whatever the ids consist of, and then only their lengths are read.
    let most = events.reduce(0) { $0 + OutputSpan<UInt8>.quotedMax(self.events[$1].id.utf8.count) + 1 }
    if most <= DomainBounds.servedEventBytesMax { return 0 }
    var bytes = 0
    for place in events.indices.reversed() {
      bytes += OutputSpan<UInt8>.quotedCount(self.events[events[place]].id.utf8.span) + 1
      if bytes > DomainBounds.servedEventBytesMax {
        assert(place + 1 < events.endIndex, "the newest event of a command is always listed")
        return place + 1 - events.startIndex
      }
    }
    return 0
  }
}
