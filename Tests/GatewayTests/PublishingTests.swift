import Domain
import Foundation
import HTTPTesting
import JSON
import KafkaClient
import Observing
import Serving
import Synchronization
import Testing

@testable import Gateway

@Suite("Publishing over HTTP") struct PublishingTests {
  @Test("events arrive as they were written, in all three modes, keyed by partitionkey or else by the subject")
  func modes() async throws {
    try await RunningGateway.run { gateway, _ in
      let client = try gateway.client()
      let one = eventJSON("1", more: #", "data" : {"delayMinutes": 45} "#)
      let keyed = eventJSON("2", more: #","partitionkey":"UA"}"#).replacing("}}", with: "}")
      var places: [JSONValue] = []
      func post(_ headers: [(String, String)], _ body: String, count: Int) throws {
        let answer = try client.ask("POST", "/v1/events", headers, body)
        #expect(answer.status == 202, "\(answer.text)")
        let records = try #require(JSONValue(parsing: answer.text)["records"]).elements
        #expect(records.count == count)
        places += records
      }
      try post([structured], one, count: 1)
      try post([("content-type", "Application/CloudEvents+JSON; charset=utf-8")], keyed, count: 1)
      try post([batched], " [ \(eventJSON("3")) , \(eventJSON("4")) ] ", count: 2)
      try post(
        [
          json, ("ce-specversion", "1.0"), ("ce-id", "5"), ("CE-Source", "/flights"), ("ce-type", "flight.cancelled"),
          ("ce-subject", "flight/caf%C3%A9"), ("ce-partitionkey", "\"UA 5\""),
        ], #"{"status":"cancelled"}"#, count: 1)
      try post([batched], "[]", count: 0)
      let records = try gateway.records("events", count: 5)
      func found(_ id: String) throws -> KafkaMessage {
        try #require(
          records.first { message in
            message.headers.contains { $0.name == "ce_id" && $0.value == Array(id.utf8) }
              || String(decoding: message.value ?? [], as: UTF8.self).contains(#""id":"\#(id)""#)
          })
      }
      #expect(records.count == 5)
      #expect(try found("1").value == Array(one.utf8))
      #expect(try found("1").key == Array("flight/1".utf8))
      #expect(try found("1").headers.map(\.name) == ["content-type"])
      #expect(try found("2").key == Array("UA".utf8))
      #expect(String(decoding: try #require(try found("3").value), as: UTF8.self).contains(eventJSON("3")))
      #expect(try found("4").key == Array("flight/4".utf8))
      let binary = try found("5")
      #expect(binary.key == Array("UA 5".utf8))
      #expect(binary.value == Array(#"{"status":"cancelled"}"#.utf8))
      let headers = Dictionary(uniqueKeysWithValues: binary.headers.map { ($0.name, $0.value) })
      #expect(headers["ce_subject"] == Array("flight/café".utf8) && headers["ce_source"] == Array("/flights".utf8))
      #expect(headers["content-type"] == Array("application/json".utf8))
      let told = places.map { "\(Int($0["partition"]?.count ?? -1))@\(Int($0["offset"]?.count ?? -1))" }
      #expect(Set(told) == Set(records.map { "\($0.partition)@\($0.offset)" }), "the places are told as they are")
    }
  }

  /// One file of `schemas/examples`.
  private static func examples(_ schema: String, _ verdict: String) throws -> [[UInt8]] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = root.appending(path: "schemas/examples/\(schema)/\(verdict)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.filter { $0.pathExtension == "json" }.map { Array(try Data(contentsOf: $0)) }
  }

  /// The words of the dead letter that intake would make.
  private static func words(_ record: CloudEventRecord, _ source: PublicRecordDecoder.TopicSort) -> String? {
    do throws(DomainError) {
      _ = try PublicRecordDecoder().decode(
        record, from: source, now: Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)))
      return nil
    } catch {
      return error.description
    }
  }

  @Test(
    "every example of a schema is accepted or refused as intake does it, in the same words",
    arguments: ["domain-event", "registration", "signal"])
  func examples(schema: String) async throws {
    let (valid, invalid) = (try Self.examples(schema, "valid"), try Self.examples(schema, "invalid"))
    #expect(valid.count >= 3 && invalid.count >= 10)
    let reader = JSONReader()
    func device(_ bytes: [UInt8]) -> String {
      (try? reader.read(bytes) { (root: JSONNode) throws(JSONError) in
        root["device"]?.stringIfAny ?? root["data"]?["device"]?.stringIfAny
      }) ?? "d-1"
    }
    let requests = (valid + invalid).map { ($0, device($0)) }
    try await RunningGateway.run { gateway, _ in
      let client = try gateway.client()
      for (bytes, device) in requests {
        let path = device.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        // A device that is no path at all is another matter.
        guard !path.isEmpty else { continue }
        let record = CloudEventRecord(
          headers: schema == "registration" ? [] : [.init(name: "content-type", value: Array(structured.1.utf8))],
          key: schema == "domain-event" ? nil : Array(device.utf8), value: bytes,
          timestamp: Timestamp(microseconds: 1_700_000_000_000_000))
        let expected: String?
        switch schema {
        case "domain-event":
          client.send("POST", "/v1/events", [structured], bytes)
          expected = Self.words(record, .events)
        case "registration":
          client.send("PUT", "/v1/devices/\(path)", [json], bytes)
          expected = Self.words(record, .devices)
        default:
          client.send("POST", "/v1/devices/\(path)/signals", [structured], bytes)
          expected = Self.words(record, .signals)
        }
        let answer = try #require(client.answer())
        #expect(answer.status == (expected == nil ? 202 : 400), "\(answer.text)")
        guard let expected else { continue }
        let problem = try JSONValue(parsing: answer.text)
        #expect(problem["detail"]?.text == expected)
        #expect(problem["errors"]?[0]?["detail"]?.text == expected)
        #expect(problem["errors"]?[0]?["code"]?.text != nil)
      }
    }
  }

  @Test("a batch with a refused event is not written at all, and says which event is wrong and where")
  func allOrNothing() async throws {
    try await RunningGateway.run { gateway, _ in
      let client = try gateway.client()
      let bad = eventJSON("bad").replacing(#""type":"flight.delay.changed","#, with: "")
      let answer = try client.ask("POST", "/v1/events", [batched], "[\(eventJSON("1")),\(bad),\(eventJSON("2")),7]")
      #expect(answer.status == 400)
      let problem = try JSONValue(parsing: answer.text)
      #expect(problem["detail"]?.text == "2 of 4 records were refused; none was written")
      let errors = try #require(problem["errors"]).elements
      #expect(errors.map { $0["index"] } == [.number(1), .number(3)])
      #expect(errors.map { $0["pointer"]?.text } == ["/1/type", "/3"])
      #expect(errors[0]["code"]?.text == "MISSING_FIELD")
      #expect(try client.ask("POST", "/v1/events", [structured], eventJSON("3")).status == 202)
      let records = try gateway.records("events", count: 1)
      #expect(records.map { String(decoding: $0.value ?? [], as: UTF8.self) } == [eventJSON("3")])
      for body in ["{}", "[", "", "[1,]"] {
        #expect(try client.ask("POST", "/v1/events", [batched], body).status == 400, "\(body)")
      }
      let many = "[" + Array(repeating: "1", count: EventBinding.batchEventsMax + 1).joined(separator: ",") + "]"
      #expect(try client.ask("POST", "/v1/events", [batched], many).status == 413)
    }
  }

  @Test("a device is registered and forgotten under its own key, and signals go to its key")
  func devices() async throws {
    try await RunningGateway.run { gateway, _ in
      let client = try gateway.client()
      let registration = registrationJSON("d/1 é")
      let path = "/v1/devices/d%2F1%20%C3%A9"
      #expect(try client.ask("PUT", path, [json], registration).status == 202)
      #expect(try client.ask("DELETE", path).status == 202)
      let other = try client.ask("PUT", "/v1/devices/other", [json], registration)
      #expect(other.status == 400 && other.text.contains("KEY_MISMATCH") && other.text.contains("/device"))
      #expect(try client.ask("POST", "\(path)/signals", [structured], signalJSON("1", device: "d/1 é")).status == 202)
      #expect(try client.ask("POST", "\(path)/signals", [structured], signalJSON("2", device: "x")).status == 400)
      #expect(try client.ask("DELETE", "/v1/devices/%ff").status == 400)
      let records = try gateway.records("rouse.devices", count: 2)
      #expect(records.map(\.key) == [Array("d/1 é".utf8), Array("d/1 é".utf8)])
      #expect(records.map(\.value) == [Array(registration.utf8), nil])
      let signals = try gateway.records("rouse.signals", count: 1)
      #expect(signals.map(\.key) == [Array("d/1 é".utf8)])
    }
  }

  @Test("brokers that are away are answered with 503 within the delivery time, and more than the bound at once")
  func brokersAway() async throws {
    try await RunningGateway.run { settings in
      settings.bounds.deliveryTime = .seconds(1)
      settings.bounds.recordsMax = 10
    } _: { gateway, broker in
      try broker.set(isUp: false)
      let waiting = try (0..<2).map { _ in try gateway.client() }
      let batch = "[" + (0..<10).map { eventJSON("\($0)") }.joined(separator: ",") + "]"
      waiting[0].send("POST", "/v1/events", [batched], Array(batch.utf8))
      // The second request follows on the same connection, so the first is under way for sure.
      let late = try #require(waiting[0].answer())
      #expect(late.status == 503 && late.headers["retry-after"] == "5", "\(late.text)")
      #expect(late.text.contains("0 of 10"))
      waiting[0].send("POST", "/v1/events", [batched], Array(batch.utf8))
      // Whichever of two requests comes second is refused, because the bound is full.
      waiting[1].send("POST", "/v1/events", [batched], Array(batch.utf8))
      let answers = [try #require(waiting[0].answer()), try #require(waiting[1].answer())]
      #expect(answers.allSatisfy { $0.status == 503 })
      #expect(answers.contains { $0.text.contains("too many records wait") && $0.headers["retry-after"] == "1" })
      try broker.set(isUp: true)
      let client = try gateway.client()
      while try client.ask("POST", "/v1/events", [structured], eventJSON("after")).status != 202 {}
      let page = String(decoding: Exposition.bytes(of: gateway.registry, as: .prometheus), as: UTF8.self)
      #expect(page.contains("rouse_gateway_records_in_flight 0"), "\(page)")
      #expect(page.contains(#"rouse_gateway_records_total{outcome="refused"}"#))
      #expect(page.contains(#"rouse_gateway_requests_total{operation="publishEvents",status="503"}"#))
    }
  }
}
