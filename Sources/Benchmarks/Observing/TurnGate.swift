import Dispatch
import Synchronization

/// Lets planner threads work in turns, so that figures of both come from the same seconds of the machine. May be used from any thread.
///
///     free ──close──► waits for a turn ──turn──► works ──the first commit after the end of its time──► waits for a turn
///
/// A turn begins behind a commit and ends with one, so everything that belongs to its decisions is in it.
final class TurnGate: Sendable {
  /// A turn of one planner.
  struct PlannerTurn: Sendable {
    /// The elapsed time and the processor time of the whole process.
    var usage: ProcessUsage
    /// The decisions that were written.
    var decisions: Int
    /// The log records that were planned.
    var records: Int
  }

  private struct State {
    /// Whether a planner works without turns, by its number.
    var isFree = [true, true]
    /// The number of the planner whose turn it is.
    var current: Int?
    /// The instant from which on a commit ends the turn, in seconds of `MonotonicClock`.
    var end = 0.0
    /// The figures when the turn began.
    var began: (usage: ProcessUsage, decisions: Int, records: Int, commits: Int)?
    /// The commits before the planner's last piece of work.
    var commits = 0
    var turn: PlannerTurn?
  }

  private let state = Mutex(State())
  private let opened = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
  private let closed = DispatchSemaphore(value: 0)

  /// The time after the end of a turn without a commit, in seconds, after which there are no events left.
  private static let starvedSeconds = 3.0

  /// Makes a planner wait for its turns from now on.
  func close(_ planner: Int) { state.withLock { $0.isFree[planner] = false } }

  /// Lets all planners work without turns, so that they can end.
  func open() {
    state.withLock { $0.isFree = [true, true] }
    for semaphore in opened { semaphore.signal() }
  }

  /// Whether it is the turn of a planner.
  func isTurn(of planner: Int) -> Bool { state.withLock { $0.current == planner || $0.isFree[planner] } }

  /// Waits until the planner may work. Called on its thread before each piece of work.
  func enter(_ planner: Int, _ counts: (decisions: Int, records: Int, commits: Int)) {
    while true {
      let mayWork = state.withLock { state in
        guard state.current == planner else { return state.isFree[planner] }
        if state.began == nil {
          state.began = (ProcessUsage.now(), counts.decisions, counts.records, counts.commits)
          state.commits = counts.commits
        }
        return true
      }
      if mayWork { return }
      opened[planner].wait()
    }
  }

  /// Ends the turn if its time is over and something was committed since the last call. Called on the planner's thread behind each piece of
  /// work.
  func leave(_ planner: Int, _ counts: (decisions: Int, records: Int, commits: Int)) {
    let isOver = state.withLock { state in
      guard state.current == planner, let began = state.began else { return false }
      let hasCommitted = counts.commits != state.commits
      state.commits = counts.commits
      guard hasCommitted, MonotonicClock.seconds() >= state.end else { return false }
      state.turn = PlannerTurn(
        usage: ProcessUsage.now() - began.usage, decisions: counts.decisions - began.decisions,
        records: counts.records - began.records)
      (state.current, state.began) = (nil, nil)
      return true
    }
    if isOver { closed.signal() }
  }

  /// Gives a planner a turn, and waits until it has ended.
  ///
  /// - Parameters:
  ///   - planner: The number of the planner, which waits for its turns.
  ///   - seconds: The shortest length.
  /// - Returns: The turn; nil if no event is left.
  func turn(of planner: Int, seconds: Double) -> PlannerTurn? {
    state.withLock { state in
      (state.current, state.began, state.turn) = (planner, nil, nil)
      state.end = MonotonicClock.seconds() + seconds
    }
    opened[planner].signal()
    guard closed.wait(timeout: .now() + seconds + Self.starvedSeconds) == .timedOut else {
      return state.withLock { $0.turn }
    }
    state.withLock { ($0.current, $0.began) = (nil, nil) }
    return nil
  }
}
