import Testing

@testable import Pipeline

/// The life of a planner thread, without its clients.
@Suite("the life of a planner thread")
struct WorkerPhaseTests {
  private typealias Phase = WorkerPhase<Int>

  private static let error = PipelineError.setup("first")
  private static var all: [(name: String, phase: Phase)] {
    [("new", .new), ("working", .working(1)), ("failed", .failed(1, error)), ("ended", .ended)]
  }
  private static var inputs: [(name: String, input: Phase.Input)] {
    [("connected", .connected(2)), ("failed", .failed(.setup("second"))), ("closed", .closed)]
  }

  private static func name(_ phase: Phase?) -> String {
    switch phase {
    case .new: "new"
    case .working(let clients): "working \(clients)"
    case .failed(let clients, let error): "failed \(clients), \(error)"
    case .ended: "ended"
    case nil: "illegal"
    }
  }

  @Test("each input leads where the drawing says, and nowhere else")
  func table() {
    let expected: [String: String] = [
      "new connected": "working 2", "new failed": "illegal", "new closed": "ended",
      "working connected": "illegal", "working failed": "failed 1, second", "working closed": "ended",
      "failed connected": "illegal", "failed failed": "illegal", "failed closed": "ended",
      "ended connected": "illegal", "ended failed": "illegal", "ended closed": "illegal",
    ]
    for (from, phase) in Self.all {
      for (word, input) in Self.inputs {
        #expect(Self.name(phase.after(input)) == expected["\(from) \(word)"], "\(from) \(word)")
      }
    }
  }

  @Test("the clients are there until they are closed")
  func clients() {
    #expect(Self.all.map { $0.phase.clients } == [nil, 1, 1, nil])
  }
}
