import Domain
import Foundation
import HTTPTesting
import KafkaClient
import Keys
import Observing
import Serving
import Synchronization
import Testing

@testable import Gateway

/// Access records in memory.
final class KeptRecords: AccessRecording {
  private struct State {
    var changes: [RecordedChange] = []
    var noted: [RefusedAttempt] = []
    var refusals: [RefusedAttempt] = []
    var failure: String?
  }

  private let state = Mutex(State())

  var changes: [RecordedChange] { state.withLock { $0.changes } }
  var refusals: [RefusedAttempt] { state.withLock { $0.refusals } }

  func set(failure: String?) { state.withLock { $0.failure = failure } }

  func write(_ changes: [RecordedChange]) throws(AccessRecordingError) {
    let failure = state.withLock { state in
      if state.failure == nil { state.changes += changes.filter { $0.device != "awaited" } }
      return state.failure
    }
    if let failure { throw AccessRecordingError(failure) }
  }

  func note(_ attempt: RefusedAttempt) { state.withLock { $0.noted.append(attempt) } }

  func writeRefusals() throws(AccessRecordingError) {
    state.withLock { state in
      state.refusals += state.noted
      state.noted = []
    }
  }
}

@Suite("Access records of the gateway") struct GatewayAccessTests {
  private static let time = Timestamp(microseconds: 1_700_000_000_000_000)

  @Test("a change of a device is recorded with key and address; events, signals and looks are not")
  func changes() async throws {
    let registrar = AccessKey.make(.registrar, created: Self.time)
    var file = KeyFile()
    file.keys = [registrar.key]
    let kept = KeptRecords()
    try await RunningGateway.run(keys: file, devices: KnownDevices([:]), records: kept) { gateway, _ in
      let client = try gateway.client()
      let key = ("Authorization", "Bearer \(registrar.secret)")
      #expect(try client.ask("PUT", "/v1/devices/d%2F1", [key, json], registrationJSON("d/1")).status == 202)
      #expect(try client.ask("DELETE", "/v1/devices/d%2F1", [key]).status == 202)
      #expect(
        try client.ask("POST", "/v1/devices/d-2/signals", [key, structured], signalJSON("1", device: "d-2")).status
          == 202)
      #expect(try client.ask("GET", "/v1/devices/d-2", [key]).status == 404)
      #expect(try client.ask("PUT", "/v1/devices/d-2", [key, json], "{}").status == 400)
      #expect(kept.changes.map(\.operation) == ["putDevice", "deleteDevice"])
      #expect(
        kept.changes.allSatisfy {
          $0.key == registrar.key.id && $0.device == "d/1" && $0.status == 202 && $0.client == "127.0.0.1"
        })
    }
  }

  @Test("a change that cannot be recorded is not made, and events are taken all the same")
  func unrecorded() async throws {
    let kept = KeptRecords()
    try await RunningGateway.run(records: kept) { gateway, _ in
      let client = try gateway.client()
      kept.set(failure: "the disk is full")
      for method in ["PUT", "DELETE"] {
        let answer = try client.ask(method, "/v1/devices/d-1", [json], method == "PUT" ? registrationJSON("d-1") : "")
        #expect(answer.status == 503 && answer.text.contains("not made: the disk is full"), "\(answer.text)")
        #expect(answer.headers["retry-after"] == "5")
      }
      #expect(try client.ask("POST", "/v1/events", [structured], eventJSON("1")).status == 202)
      kept.set(failure: nil)
      #expect(try client.ask("DELETE", "/v1/devices/d-2").status == 202)
      #expect(try gateway.records("rouse.devices", count: 1).map(\.key) == [Array("d-2".utf8)])
      let page = String(decoding: Exposition.bytes(of: gateway.registry, as: .prometheus), as: UTF8.self)
      #expect(page.contains(#"rouse_gateway_access_records_total{outcome="failed"} 2"#), "\(page)")
    }
  }

  @Test("a change that the brokers did not take has a second record with the status of its answer")
  func failed() async throws {
    let kept = KeptRecords()
    try await RunningGateway.run(records: kept, runsProducer: false) { gateway, _ in
      let answer = try gateway.client().ask("DELETE", "/v1/devices/d-1")
      #expect(answer.status == 503)
      while kept.changes.count < 2 { sched_yield() }
      #expect(kept.changes.map(\.status) == [202, 503])
    }
  }

  @Test("while the disk hangs, a bounded number of changes waits, and further ones are refused")
  func bound() throws {
    let (registry, kept) = (MetricRegistry(), KeptRecords())
    let writer = AccessRecordWriter(kept, GatewayMetrics(registry))
    let (hangs, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let made = Atomic<Int>(0)
    let refused = Mutex<[String]>([])
    let change = RecordedChange(at: Self.time, operation: "putDevice", device: "d", status: 202)
    // The first change holds up the writer's queue in its answer, as a write that hangs would.
    writer.record(change) { _ in
      hangs.signal()
      ends.wait()
    }
    hangs.wait()
    for _ in 0..<AccessRecordWriter.waitingMax + 3 {
      writer.record(change) { refusal in
        if let refusal { refused.withLock { $0.append(refusal.detail) } } else { made.add(1, ordering: .relaxed) }
      }
    }
    #expect(refused.withLock { $0 }.count == 3 && made.load(ordering: .relaxed) == 0)
    #expect(refused.withLock { $0 }.first?.contains("too many changes wait") == true)
    ends.signal()
    // All that wait are written before the queue comes to this.
    writer.end()
    #expect(made.load(ordering: .relaxed) == AccessRecordWriter.waitingMax)
    #expect(kept.changes.count == AccessRecordWriter.waitingMax + 1)
    let page = String(decoding: Exposition.bytes(of: registry, as: .prometheus), as: UTF8.self)
    #expect(page.contains(#"rouse_gateway_access_records_total{outcome="failed"} 3"#), "\(page)")
  }

  @Test("attempts are noted with the reason: no key, an unknown one, another role, the app of another key")
  func refused() async throws {
    let (publisher, registrar) = (
      AccessKey.make(.publisher, created: Self.time), AccessKey.make(.registrar, apps: ["mine"], created: Self.time)
    )
    var file = KeyFile()
    file.keys = [publisher.key, registrar.key]
    let kept = KeptRecords()
    let devices = KnownDevices(["theirs": registrationJSON("theirs", app: "other")])
    try await RunningGateway.run(keys: file, devices: devices, records: kept) { gateway, _ in
      let client = try gateway.client()
      func delete(_ secret: String?) throws -> Int {
        let headers = secret.map { [("Authorization", "Bearer \($0)")] } ?? []
        return try client.ask("DELETE", "/v1/devices/theirs", headers).status
      }
      for (secret, status) in [(nil, 401), ("rouse_unknown", 401), (publisher.secret, 403), (registrar.secret, 403)] {
        #expect(try delete(secret) == status)
      }
      while kept.refusals.filter({ $0.key != nil }).count < 2 { sched_yield() }
      // The gateway was awaited without a key.
      let found = kept.refusals.drop { $0.cause == "noKey" }
      #expect(found.map(\.cause) == ["unknownKey", "missingRole", "otherApp"])
      #expect(found.map(\.key) == [nil, publisher.key.id, registrar.key.id])
      #expect(found.map(\.status) == [401, 403, 403])
      #expect(kept.refusals.allSatisfy { $0.operation == "deleteDevice" && $0.client == "127.0.0.1" })
      #expect(kept.changes.isEmpty)
    }
  }
}
