import Auditing
import Dispatch
import Domain
import Operating
import Serving
import Testing

@testable import Console

@Suite("The other processes on the page about health") struct OtherProcessesTests {
  private func text(_ answer: HTTPAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

  @Test("the page about health asks the other processes, and shows their roles, partitions and restores")
  func otherProcesses() throws {
    let asked = DispatchSemaphore(value: 0)
    let others = StubProcesses(
      processes: [
        .init(address: "planner-0:9464", answer: .failure("no answer within 4 s")),
        .init(
          address: "planner-1:9464",
          answer: .status(
            .init(
              version: "1.2.3", roles: ["intake", "planner"], missing: ["no broker"],
              partitions: [
                .init(
                  number: 7, state: "planning", devices: 1_234, lagRecords: 5,
                  restore: .init(isUnderWay: false, source: "topic", seconds: 2.5)),
                .init(
                  number: 3, state: "restoring", restore: .init(isUnderWay: true, source: "snapshot", seconds: 0.5)),
              ]))),
        .init(
          address: "<b>:1",
          answer: .status(.init(version: "<b>", roles: ["audit"], notReady: ["a < b"]))),
      ], asked: asked)
    let sample = try PageSample(AuditBatch.small) { $0.others = others }
    let first = PageCheck(text(try sample.page("/health")))
    #expect(first.text.contains("They are being asked"))
    asked.wait()
    var page = first
    while page.text.contains("They are being asked") { page = PageCheck(text(try sample.page("/health"))) }
    #expect(page.mistakes.isEmpty, "\(page.mistakes)")
    for part in [
      "planner-0:9464––does not tellno answer within 4 s––",
      "planner-1:9464intake, planner1.2.3yeswithout: no broker25", "<b>:1audit<b>noa < b––",
      "planner-1:94643restoring––under way: local snapshot, and the topic behind it0.5",
      "planner-1:94647planning1,2345topic2.5",
    ] {
      #expect(page.text.replacing("\n", with: "").contains(part), "\(part): \(page.text)")
    }
    // The answers are fresh, so nobody is asked again.
    #expect(asked.wait(timeout: .now()) == .timedOut)
    let csv = text(try sample.page("/health?table=processes"))
    #expect(csv.hasPrefix("Address,Roles,") && csv.contains("planner-0:9464,"), "\(csv)")
  }
}

/// Other processes that answer at once, and tell the test when they were asked.
struct StubProcesses: OtherProcesses {
  var processes: [OtherProcess]
  var asked: DispatchSemaphore

  func ask() -> [OtherProcess] {
    asked.signal()
    return processes
  }
}
