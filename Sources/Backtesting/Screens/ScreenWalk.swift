import Replay

/// A merge of the changes of a screen with its reloads, in the order of time. A change at the instant of a reload comes
/// before it, because the reload shows it.
struct ScreenWalk {
  private var screen: ScreenState
  private let stream: ScreenStream
  private let free: [Int64]
  private let reloads: [Int64]
  private var nextChange = 0
  private var nextFree = 0
  private var nextReload = 0

  /// Begins at the start of the log.
  /// - Parameters:
  ///   - stream: The changes of the truth.
  ///   - free: The reloads that cost nothing, µs, rising.
  ///   - reloads: The reloads that a push pays for, µs, rising.
  init(_ stream: ScreenStream, free: [Int64], reloads: [Int64]) {
    self.stream = stream
    self.free = free
    self.reloads = reloads
    screen = ScreenState(stream)
  }

  /// Returns the wrong looks of a day: the looks, each counted by how wrong the screen was.
  /// - Parameters:
  ///   - day: A day on which a change arrives, after those of earlier calls. No such day may be left out.
  ///   - observe: Receives the screen at the day's start, and after each change and each reload, with the instant.
  mutating func wrongLooks(on day: ScreenDay, observe: (Int64, ScreenState) -> Void = { _, _ in }) -> Double {
    pass(to: day.day.start)
    observe(day.day.start, screen)
    var cost = 0.0
    var before = 0.0
    while true {
      let change = nextChange < day.changes.upperBound ? stream.changes[nextChange].time : .max
      let instant = min(change, nextReloadTime, day.day.end)
      let looks = day.looks.before(instant)
      cost += screen.distance * (looks - before)
      before = looks
      if instant == day.day.end { return cost }
      if change == instant {
        screen.take(stream.changes[nextChange].content)
        nextChange += 1
      } else {
        pass(to: instant + 1)
      }
      observe(instant, screen)
    }
  }

  /// The time of the next reload, paid or free, µs.
  private var nextReloadTime: Int64 {
    min(
      nextReload < reloads.count ? reloads[nextReload] : .max, nextFree < free.count ? free[nextFree] : .max)
  }

  /// Makes the reloads before an instant. No change may lie between them.
  private mutating func pass(to instant: Int64) {
    while nextReload < reloads.count, reloads[nextReload] < instant {
      screen.reload()
      nextReload += 1
    }
    while nextFree < free.count, free[nextFree] < instant {
      screen.reload()
      nextFree += 1
    }
  }
}
