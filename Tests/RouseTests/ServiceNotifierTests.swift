import Foundation
import Installation
import KafkaClient
import Testing

@testable import rouse

@Suite("Messages to a service manager") struct ServiceNotifierTests {
  private typealias State = ServiceNotices.ProcessState
  private let start = ContinuousClock.now
  private let ask = "EXTEND_TIMEOUT_USEC=60000000"

  @Test("a start asks for more time until the process is ready, which is said once")
  func starting() {
    var notices = ServiceNotices(watchdog: nil)
    let waiting = State(reasonsNotStarted: ["a waits", "b waits", "c waits"], reasonsNotReady: ["a waits"])
    #expect(notices.next(waiting, at: start) == [ask, "STATUS=starting: a waits, and 2 more reasons"])
    #expect(notices.next(waiting, at: start + .seconds(19)).isEmpty)
    #expect(notices.next(waiting, at: start + .seconds(20)) == [ask])
    #expect(notices.next(State(), at: start + .seconds(41)) == ["READY=1", "STATUS=ready"])
    #expect(notices.next(State(), at: start + .seconds(42)).isEmpty)
    let rebalancing = State(reasonsNotReady: ["p is being read"])
    #expect(notices.next(rebalancing, at: start + .seconds(90)) == ["STATUS=not ready: p is being read"])
    #expect(notices.next(State(), at: start + .seconds(91)) == ["STATUS=ready"])
  }

  @Test("a start that hangs asks for no time, so that the manager ends it")
  func hangingStart() {
    var notices = ServiceNotices(watchdog: .seconds(30))
    let stuck = State(reasonsNotStarted: ["a waits"], reasonsNotReady: ["a waits"], reasonsStuck: ["a hangs"])
    #expect(notices.next(stuck, at: start) == ["STATUS=stuck: a hangs"])
    #expect(notices.next(stuck, at: start + .seconds(100)).isEmpty)
  }

  @Test("the watchdog is fed after half of its time in every phase, unless a thread is stuck")
  func watchdog() {
    var notices = ServiceNotices(watchdog: .seconds(30))
    #expect(notices.interval == .seconds(1))
    #expect(ServiceNotices(watchdog: .milliseconds(100)).interval == .milliseconds(50))
    #expect(notices.next(State(), at: start) == ["READY=1", "WATCHDOG=1", "STATUS=ready"])
    #expect(notices.next(State(), at: start + .milliseconds(14_999)).isEmpty)
    #expect(notices.next(State(), at: start + .seconds(15)) == ["WATCHDOG=1"])
    let stuck = State(reasonsStuck: ["planner thread 0 has made no turn for 301 s"])
    #expect(
      notices.next(stuck, at: start + .seconds(31)) == ["STATUS=stuck: planner thread 0 has made no turn for 301 s"])
    #expect(notices.next(State(), at: start + .seconds(32)) == ["WATCHDOG=1", "STATUS=ready"])
    let ending = State(reasonsNotReady: ["the process is ending"], isEnding: true)
    #expect(notices.next(ending, at: start + .seconds(33)) == ["STOPPING=1", "STATUS=ending"])
    #expect(notices.next(ending, at: start + .seconds(47)) == ["WATCHDOG=1"])
  }

  @Test("a process that ends before it was ready never says that it is")
  func endedEarly() {
    var notices = ServiceNotices(watchdog: nil)
    _ = notices.next(State(reasonsNotStarted: ["a waits"], reasonsNotReady: ["a waits"]), at: start)
    let ending = State(reasonsNotReady: ["the process is ending"], isEnding: true)
    #expect(notices.next(ending, at: start) == ["STOPPING=1", "STATUS=ending"])
    #expect(notices.next(ending, at: start + .seconds(60)).isEmpty)
  }

  @Test("a watchdog is that of this process, and has a time")
  func whichWatchdog() {
    let watchdog = { (environment: [String: String]) in ServiceNotifier.watchdog(environment, processID: 7) }
    #expect(watchdog(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
    #expect(watchdog(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"]) == .seconds(30))
    #expect(watchdog(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"]) == nil)
    for text in ["0", "-1", "soon", ""] { #expect(watchdog(["WATCHDOG_USEC": text]) == nil, "\(text)") }
    #expect(watchdog(["WATCHDOG_PID": "7"]) == nil)
  }

  @Test("datagrams reach a path and an abstract name whole; an address without a listener is an error with the reason")
  func datagrams() throws {
    let place = try Workplace()
    for address in [place.path("n"), "@rouse-test-\(UUID().uuidString)"] {
      let receiver = try DatagramReceiver(address)
      try NotifySocket(address: address).send(["READY=1", "STATUS=planner 0 läuft"])
      #expect(receiver.next() == ["READY=1", "STATUS=planner 0 läuft"])
    }
    let silent = try NotifySocket(address: place.path("none"))
    #expect { try silent.send(["READY=1"]) } throws: { "\($0)" == "\(place.path("none")): No such file or directory" }
    let long = "/" + String(repeating: "a", count: NotifySocket.pathRoom)
    for address in ["vsock:2:1", "", "/", "@", long] {
      #expect(throws: NotifySocket.Refusal.self, "\(address)") { try NotifySocket(address: address) }
    }
  }

  // Nothing here awaits: the tests that compute would hold its turns back for minutes.
  @Test("a run says that it is ready and that it ends, and feeds its watchdog in between")
  func run() throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all + ["events"] { try broker.createTopic(name, partitions: 1) }
    let receiver = try DatagramReceiver("@rouse-test-\(UUID().uuidString)")
    let place = try Workplace()
    try place.put("", "words")
    let process = Process()
    process.executableURL = Workplace.program
    process.arguments = [
      "run", "--bootstrap", broker.bootstrapServers, "--set", "http.listen=off", "--set", "planner.workers=1", "--set",
      "membership=dynamic",
    ]
    process.environment = ["PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "1000000"]
    process.currentDirectoryURL = place.folder
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: place.path("words")))
    try process.run()
    defer { process.terminate() }
    let words = { (try? place.lines("words")) ?? [] }
    let started = try #require(receiver.lines(until: "READY=1"), "\(words())")
    #expect(started.contains(ask))
    #expect(started.contains { $0.hasPrefix("STATUS=starting: ") })
    // The first one comes with the start.
    #expect(receiver.lines(until: "WATCHDOG=1") != nil)
    process.terminate()
    let ended = try #require(receiver.lines(until: "STOPPING=1"), "\(words())")
    #expect(ended.last == "STATUS=ending")
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test("a run goes on, with one warning, if its service manager cannot be reached")
  func withoutManager() throws {
    let outcome = try Workplace().rouse(
      "run", "--bootstrap", "127.0.0.1:1", "--set", "http.listen=off",
      environment: ["NOTIFY_SOCKET": "vsock:2:1"])
    #expect(outcome.status == 1)
    #expect(outcome.err.contains("NOTIFY_SOCKET=vsock:2:1: expected a path, or @ and the name of an abstract socket"))
    #expect(outcome.err.contains("no broker answered at 127.0.0.1:1"))
  }
}
