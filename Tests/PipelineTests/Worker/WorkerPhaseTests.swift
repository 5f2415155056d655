import KafkaClient
import Testing

@testable import Pipeline

/// The life of a planner thread, without its clients.
@Suite("The life of a planner thread")
struct WorkerPhaseTests {
  private typealias Phase = WorkerPhase<Int>

  private static let first = PipelineError.setup("first")
  /// An abort repairs `repairable`; after `other` the thread ends.
  private static let repairable = KafkaError(
    code: .timedOut, message: "", operation: "", isRetriable: false, isAbortable: true)
  private static let other = KafkaError(code: .fenced, message: "", operation: "", isFatal: true, isRetriable: false)

  private static var new: Phase { .new }
  private static var working: Phase { .working(1) }
  private static var failed: Phase { .failed(1, first) }
  private static var ended: Phase { .ended }

  /// The step that follows from an input in each phase: new, working, failed, ended. Nil marks an illegal input.
  private struct Row {
    let input: Phase.Input
    let new: String?
    let working: String?
    let failed: String?
    let ended: String?
  }

  private static func line(_ phase: Phase, _ actions: [WorkerAction]) -> String {
    let name =
      switch phase {
      case .new: "new"
      case .working(let clients): "working \(clients)"
      case .failed(let clients, let error): "failed \(clients), \(error)"
      case .ended: "ended"
      }
    return ([name] + actions.map(word)).joined(separator: "; ")
  }

  private static func word(_ action: WorkerAction) -> String {
    switch action {
    case .subscribe: "subscribe"
    case .wait(let partitions): "wait \(partitions)"
    case .pause: "pause"
    case .commit: "commit"
    case .abort(let error): "abort \(error?.code.name ?? "nil")"
    case .release(let partitions): "release \(partitions)"
    case .leave: "leave"
    case .end(let error): "end \(error)"
    case .close: "close"
    }
  }

  private static var rows: [Row] {
    [
      Row(input: .connected(2), new: "working 2; subscribe", working: nil, failed: nil, ended: nil),
      Row(
        input: .assigned([3]), new: "new", working: "working 1; wait [3]", failed: "failed 1, first", ended: "ended"),
      Row(
        input: .revoked([3]), new: "new", working: "working 1; commit; release [3]",
        failed: "failed 1, first; release [3]", ended: "ended"),
      Row(
        input: .lost([3]), new: "new", working: "working 1; abort nil; release [3]",
        failed: "failed 1, first; release [3]", ended: "ended"),
      Row(
        input: .handOverFailed(.kafka(other)), new: nil, working: "working 1; abort \(other.code.name)",
        failed: "failed 1, first", ended: nil),
      Row(
        input: .handOverFailed(.setup("second")), new: nil, working: "failed 1, second", failed: "failed 1, first",
        ended: nil),
      Row(input: .handled, new: nil, working: "working 1; pause", failed: "failed 1, first; end first", ended: nil),
      Row(input: .commitDue, new: nil, working: "working 1; commit", failed: "failed 1, first", ended: nil),
      Row(
        input: .callFailed(.kafka(repairable)), new: nil, working: "working 1; abort \(repairable.code.name)",
        failed: "failed 1, first", ended: nil),
      Row(
        input: .callFailed(.kafka(other)), new: nil,
        working: "failed 1, \(PipelineError.kafka(other)); abort \(other.code.name)", failed: "failed 1, first",
        ended: nil),
      Row(
        input: .callFailed(.setup("second")), new: nil, working: "failed 1, second", failed: "failed 1, first",
        ended: nil),
      Row(
        input: .recordRefused(other), new: nil, working: "working 1; abort \(other.code.name)",
        failed: "failed 1, first", ended: nil),
      Row(
        input: .clockRefused(repairable), new: nil,
        working: "failed 1, \(PipelineError.kafka(repairable)); abort \(repairable.code.name)",
        failed: "failed 1, first",
        ended: nil),
      Row(
        input: .abortFailed(.setup("second")), new: nil, working: "failed 1, second", failed: "failed 1, first",
        ended: nil),
      Row(
        input: .stopAsked, new: "new", working: "working 1; commit; leave", failed: "failed 1, first", ended: "ended"),
      Row(input: .closed, new: "ended", working: "ended; close", failed: "ended; close", ended: "ended"),
    ]
  }

  @Test("each input leads to the phase and the actions of the table, and nowhere else")
  func table() {
    for row in Self.rows {
      for (phase, expected) in [
        (Self.new, row.new), (Self.working, row.working), (Self.failed, row.failed), (Self.ended, row.ended),
      ] {
        #expect(phase.after(row.input).map(Self.line) == expected, "\(row.input) in \(phase)")
      }
    }
  }

  @Test("only a working thread commits")
  func commits() {
    for row in Self.rows {
      for phase in [Self.new, Self.failed, Self.ended] {
        #expect(phase.after(row.input)?.actions.contains(.commit) != true, "\(row.input) in \(phase)")
      }
    }
  }

  @Test("an error that can be tried again is repaired by an abort, unless the client is useless")
  func repairs() throws {
    for (isRetriable, isFatal) in [(true, false), (true, true), (false, false), (false, true)] {
      let error = KafkaError(
        code: .timedOut, message: "", operation: "", isFatal: isFatal, isRetriable: isRetriable)
      let (next, actions) = try #require(Self.working.after(.callFailed(.kafka(error))))
      #expect(actions == [.abort(error)])
      let goesOn = if case .working = next { true } else { false }
      #expect(goesOn == (isRetriable && !isFatal))
    }
  }

  @Test("a missing permission ends the thread, also where an abort would repair the transaction")
  func permission() throws {
    let error = KafkaError(
      code: .topicAuthorizationFailed, message: "", operation: "", isRetriable: true, isAbortable: true)
    let (next, actions) = try #require(Self.working.after(.callFailed(.kafka(error))))
    #expect(actions == [.abort(error)])
    let ends = if case .failed = next { true } else { false }
    #expect(ends)
  }

  @Test("the clients are there until they are closed")
  func clients() {
    #expect([Self.new, Self.working, Self.failed, Self.ended].map(\.clients) == [nil, 1, 1, nil])
  }
}
