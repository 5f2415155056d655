import Domain
import Foundation
import JSON
import Testing

/// One file of `schemas/examples`.
struct Example: CustomTestStringConvertible {
  var name: String
  var bytes: [UInt8]
  /// The code and path of the error that an invalid example gets: `CODE path`.
  var expected: String?
  var testDescription: String { name }

  static func all(_ schema: String, _ verdict: String) -> [Example] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = root.appending(path: "schemas/examples/\(schema)/\(verdict)")
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    return files.filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }.compactMap { file in
      guard let data = try? Data(contentsOf: file) else { return nil }
      let expectation = try? String(
        contentsOf: file.deletingPathExtension().appendingPathExtension("expect"), encoding: .utf8)
      return Example(
        name: file.deletingPathExtension().lastPathComponent, bytes: Array(data),
        expected: expectation?.split(separator: "\n").first.map(String.init))
    }
  }
}

/// Returns a record in structured mode.
func structured(_ json: [UInt8], key: [UInt8]? = nil) -> CloudEventRecord {
  CloudEventRecord(
    headers: [.init(name: "content-type", value: Array("application/cloudevents+json".utf8))], key: key, value: json,
    timestamp: Timestamp(microseconds: 1_372_705_500_000_000))
}

func refusal<Value>(_ body: () throws(DomainError) -> Value) -> DomainError? {
  do throws(DomainError) {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

@Suite("Examples of the schemas") struct ExampleTests {
  @Test(
    "there are examples of every schema", arguments: ["domain-event", "registration", "signal", "decision", "command"])
  func present(schema: String) {
    #expect(Example.all(schema, "valid").count >= 3)
    #expect(Example.all(schema, "invalid").count >= 10)
    #expect(Example.all(schema, "invalid").allSatisfy { $0.expected != nil })
  }

  @Test("a valid domain event is accepted", arguments: Example.all("domain-event", "valid"))
  func validEvent(example: Example) throws {
    let event = try CloudEventDecoder().decode(structured(example.bytes))
    #expect(event.id == "flights-1")
    #expect(event.fields.map(\.path) == event.fields.map(\.path).sorted())
  }

  @Test("an invalid domain event is refused with code and path", arguments: Example.all("domain-event", "invalid"))
  func invalidEvent(example: Example) {
    let error = refusal { () throws(DomainError) in try CloudEventDecoder().decode(structured(example.bytes)) }
    #expect(error.map { "\($0.code.rawValue) \($0.path)" } == example.expected)
  }

  @Test(
    "a valid registration is accepted and survives writing and reading", arguments: Example.all("registration", "valid")
  )
  func validRegistration(example: Example) throws {
    let registration = try RegistrationDecoder().decode(example.bytes, key: Array("d-1".utf8))
    #expect(try Registration(json: registration.json()) == registration)
  }

  @Test("an invalid registration is refused with code and path", arguments: Example.all("registration", "invalid"))
  func invalidRegistration(example: Example) {
    let error = refusal { () throws(DomainError) in try RegistrationDecoder().decode(example.bytes) }
    #expect(error.map { "\($0.code.rawValue) \($0.path)" } == example.expected)
  }

  @Test("a valid signal is accepted and survives writing and reading", arguments: Example.all("signal", "valid"))
  func validSignal(example: Example) throws {
    let signal = try SignalDecoder().decode(structured(example.bytes))
    #expect(signal.device == "d-1")
    var writer = JSONWriter()
    signal.encode(to: &writer, source: "/app")
    #expect(try SignalDecoder().decode(structured(writer.bytes, key: Array("d-1".utf8))) == signal)
  }

  @Test("an invalid signal is refused with code and path", arguments: Example.all("signal", "invalid"))
  func invalidSignal(example: Example) {
    let error = refusal { () throws(DomainError) in try SignalDecoder().decode(structured(example.bytes)) }
    #expect(error.map { "\($0.code.rawValue) \($0.path)" } == example.expected)
  }

  @Test("a valid decision survives reading and writing", arguments: Example.all("decision", "valid"))
  func validDecision(example: Example) throws {
    let decision = try Decision(json: example.bytes)
    #expect(try Decision(json: decision.json()) == decision)
  }

  @Test("an invalid decision is refused with code and path", arguments: Example.all("decision", "invalid"))
  func invalidDecision(example: Example) {
    let error = refusal { () throws(DomainError) in try Decision(json: example.bytes) }
    #expect(error.map { "\($0.code.rawValue) \($0.path)" } == example.expected)
  }

  @Test("a valid command survives reading and writing", arguments: Example.all("command", "valid"))
  func validCommand(example: Example) throws {
    let command = try Command(json: example.bytes)
    #expect(try Command(json: command.json()) == command)
  }

  @Test("an invalid command is refused with code and path", arguments: Example.all("command", "invalid"))
  func invalidCommand(example: Example) {
    let error = refusal { () throws(DomainError) in try Command(json: example.bytes) }
    #expect(error.map { "\($0.code.rawValue) \($0.path)" } == example.expected)
  }
}
