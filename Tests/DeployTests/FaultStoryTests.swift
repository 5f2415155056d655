import Foundation
import KafkaClient
import Testing

/// Five faults, told by alerts alone. The rules run on a scale of 1:60, so a second stands for a minute; what the processes and
/// the broker do takes its real time. `ROUSE_STORY_SCALE` changes the scale.
@Suite("A fault story", .serialized, .enabled(if: Tool.prometheus != nil, "\(Tool.reason)")) struct FaultStoryTests {
  private static let scale = ProcessInfo.processInfo.environment["ROUSE_STORY_SCALE"].flatMap { Int($0) } ?? 60

  @Test(
    "a planner that dies, brokers that stop, a store that is altered, one that is locked and poisoned events each fire their alerts"
  )
  func story() throws {
    let pipeline = try ObservedPipeline(dividedBy: Self.scale, try #require(Tool.prometheus))
    try calm(pipeline, "at the start")
    try act(
      "the only planner process is killed", pipeline, ["RouseTargetDown", "RousePartitionUnowned"],
      also: ["RouseRoleGone"]
    ) {
      pipeline.kill9("planner")
    }
    try pipeline.start("planner", roles: "planner")
    try calm(pipeline, "with the planner back")
    try act(
      "the brokers stop", pipeline, ["RouseBrokersAway"],
      also: ["RouseThreadStuck", "RouseNoCommit", "RousePlannerLag", "RousePartitionUnowned"]
    ) {
      try pipeline.broker.setBrokerDown()
    }
    try pipeline.broker.setBrokerUp()
    try calm(pipeline, "with the brokers back")
    try act(
      "another program alters the audit store", pipeline, ["RouseAuditGaveUp"],
      also: ["RouseAuditLag", "RouseAuditStalled"]
    ) { try pipeline.addForeignTrigger() }
    try pipeline.removeForeignTrigger()
    try calm(pipeline, "with the store as it was")
    try act(
      "another program locks the audit store", pipeline, ["RouseAuditLag", "RouseAuditStalled"],
      also: ["RouseThreadStuck", "RouseAuditStoreRefuses"]
    ) { try pipeline.lockAuditStore() }
    try pipeline.unlockAuditStore()
    try calm(pipeline, "with the store unlocked")
    try act("every second event is broken", pipeline, ["RouseDeadLetters", "RouseDeadLettersMany"]) {
      pipeline.isPoisoned = true
    }
  }

  /// Makes a fault, and waits until the alerts fire that tell of it. No other alerts may fire but those of `also`, which tell of it, too, if
  /// it lasts longer or is noticed at another moment, and the one about missing pushes.
  private func act(
    _ fault: String, _ pipeline: ObservedPipeline, _ expected: Set<String>, also: Set<String> = [],
    _ make: () throws -> Void
  ) throws {
    let began = Date()
    try make()
    guard let firings = try pipeline.watch(since: began, atMost: 120, until: { $0.isSuperset(of: expected) }) else {
      let fires = try pipeline.firing()
      Issue.record("\(fault): of \(expected.sorted()) only these fire: \(fires); \(pipeline.words)")
      return
    }
    print("\nstory: \(fault)")
    for firing in firings {
      let usual = Int((firing.seconds * Double(Self.scale)).rounded())
      print(
        "  after \(usual / 60) min \(usual % 60) s (here \((firing.seconds * 10).rounded() / 10) s): \(firing.alert) \(firing.labels)"
      )
      print("    runbook: \(try Self.advice(firing.alert))")
    }
    // An expected alert may have labels behind the name. An hour without pushes is a minute here, and on a busy machine a fault
    // and its end may last as long.
    let allowed = also.union(expected.map { String($0.prefix { $0 != " " }) }).union(["RouseNoCommands"])
    let names = Set(firings.map(\.alert))
    #expect(names.isSubset(of: allowed), "\(fault) has nothing to do with \(names.subtracting(allowed).sorted())")
  }

  /// Waits until the pipeline decides and no alert has fired for five seconds, but for the one about missing pushes: an hour without pushes is a
  /// minute here.
  private func calm(_ pipeline: ObservedPipeline, _ when: String) throws {
    var (since, last) = (Date(), Set<String>())
    let decided = try pipeline.value("sum(rouse_decisions_total)")
    let calm = try pipeline.watch(atMost: 180) { alerts in
      last = alerts.filter { !$0.hasPrefix("RouseNoCommands") }
      if !last.isEmpty { since = Date() }
      return Date().timeIntervalSince(since) > 5
    }
    _ = try #require(calm, "\(when), alerts go on: \(last.sorted()); \(pipeline.words)")
    #expect(try pipeline.value("sum(rouse_decisions_total)") > decided, "\(when), nothing is decided")
    print("story: \(when), all is calm")
  }

  /// The runbook's advice about an alert.
  private static func advice(_ alert: String) throws -> String {
    let page = Tool.repository.appending(path: "Sources/rouse/Documentation.docc/Runbook.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
    let chapter = lines.drop { $0 != "## \(alert)" }.dropFirst().prefix { !$0.hasPrefix("## ") && !$0.hasPrefix("# ") }
    let text = chapter.drop { !$0.hasPrefix("- **Do**: ") }.joined(separator: " ").dropFirst("- **Do**: ".count)
    return text.split(separator: " ").joined(separator: " ")
  }
}
