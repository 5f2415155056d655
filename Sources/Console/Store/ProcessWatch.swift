import Domain
import Foundation
package import Operating
import Synchronization

/// Asks the other processes for the page about health, on a thread of its own. May be used from any thread.
///
///     idle ──a page asks, and what is known is older than `freshSeconds`──► asking ──► idle
///
/// A page never waits: it shows what was known before, and says how old that is.
final class ProcessWatch: Sendable {
  /// The age in seconds from which on a page that asks has the processes asked again.
  static let freshSeconds = 10.0

  /// The answers, as they were at one time.
  struct ProcessView: Sendable {
    /// The wall clock when they were there.
    var at: Timestamp
    var processes: [OtherProcess]
  }

  private struct State {
    var view: ProcessView?
    var askedAt: ContinuousClock.Instant?
    var isAsking = false
  }

  private let state = Mutex(State())
  private let others: any OtherProcesses
  private let now: @Sendable () -> Timestamp

  /// Makes a watch that has not asked yet.
  ///
  /// - Parameters:
  ///   - others: The other processes.
  ///   - now: The wall clock.
  init(_ others: any OtherProcesses, now: @escaping @Sendable () -> Timestamp) {
    self.others = others
    self.now = now
  }

  /// Returns what is known; nil before the first answers. Has the processes asked if that is old.
  func view() -> ProcessView? {
    let (view, asks) = state.withLock { state -> (ProcessView?, Bool) in
      let age = state.askedAt.map { $0.duration(to: .now) / .seconds(1) } ?? .infinity
      let asks = !state.isAsking && age > Self.freshSeconds
      if asks { state.isAsking = true }
      return (state.view, asks)
    }
    if asks {
      let thread = Thread { [self] in
        let processes = others.ask()
        let view = ProcessView(at: now(), processes: processes)
        state.withLock { $0 = State(view: view, askedAt: .now) }
      }
      thread.name = "console-processes"
      thread.start()
    }
    return view
  }
}

/// The other processes of the installation, as the page about health shows them.
package protocol OtherProcesses: Sendable {
  /// Asks all of them at the same time, and waits for the answers. Called on a thread of its own; each answer is waited for some seconds at most.
  ///
  /// - Returns: The processes, in the order of their addresses.
  func ask() -> [OtherProcess]
}

/// A process that was asked for its status.
package struct OtherProcess: Sendable, Equatable {
  /// The address that was asked.
  package var address: String
  /// The status, or the reason why there is none.
  package var answer: ProcessStatus.StatusAnswer

  /// Names a process and its answer.
  package init(address: String, answer: ProcessStatus.StatusAnswer) {
    self.address = address
    self.answer = answer
  }
}
