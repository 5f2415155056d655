import Domain
import JSON
import KafkaClient
import Operating

extension FuzzTarget {
  /// Decoders of public records, and of the log's records.
  static let recordTargets = [event, registration, signal, decision, command, logRecord, deadLetter]

  /// Domain events in both modes, see ``kafkaRecord(_:)``.
  private static let event = FuzzTarget(
    name: "event", form: .text, cases: 15_000,
    seeds: {
      try (FuzzExamples.files("domain-event/valid") + FuzzExamples.files("domain-event/invalid")).map(structured)
        + [
          Array(
            """
            ce_specversion: 1.0
            ce_id: e1
            ce_source: /s
            ce_type: flight.delayed
            ce_subject: flight/UA1
            ce_time: 2013-07-01T10:05:00Z
            ce_traceparent: 00-1
            content-type: application/json

            {"delayMinutes":5,"legs":[{"gate":"A"}]}
            """.utf8)
        ]
    },
    body: { input in
      let event: DomainEvent
      do throws(DomainError) { event = try CloudEventDecoder().decode(kafkaRecord(input)) } catch { return }
      try requireBounded([event.id, event.source, event.type, event.subject])
      try FuzzFinding.unless(event.fields.count <= DomainBounds.eventFieldsMax, "\(event.fields.count) fields")
      try requireLogKeeps(.event(event))
    })

  private static let registration = FuzzTarget(
    name: "registration", form: .text, cases: 10_000,
    seeds: { try FuzzExamples.files("registration/valid") + FuzzExamples.files("registration/invalid") },
    body: { input in
      let registration: Registration
      do throws(DomainError) { registration = try RegistrationDecoder().decode(input) } catch { return }
      let json = registration.json()
      try FuzzFinding.unless(
        try Registration(json: json).json() == json, "the registration changed when it was written and read")
      try requireBounded([registration.device, registration.app])
      try requireLogKeeps(.registration(registration))
    })

  private static let signal = FuzzTarget(
    name: "signal", form: .text, cases: 10_000,
    seeds: { try (FuzzExamples.files("signal/valid") + FuzzExamples.files("signal/invalid")).map(structured) },
    body: { input in
      let signal: Signal
      do throws(DomainError) { signal = try SignalDecoder().decode(kafkaRecord(input)) } catch { return }
      try requireLogKeeps(.signal(signal))
    })

  private static let decision = FuzzTarget(
    name: "decision", form: .text, cases: 15_000,
    seeds: { try FuzzExamples.files("decision/valid") + FuzzExamples.files("decision/invalid") },
    body: { input in
      let decision: Decision
      do throws(DomainError) { decision = try Decision(json: input) } catch { return }
      let json = decision.json()
      try FuzzFinding.unless(try Decision(json: json).json() == json, "the decision changed when written and read")
    })

  private static let command = FuzzTarget(
    name: "command", form: .text, cases: 15_000,
    seeds: { try FuzzExamples.files("command/valid") + FuzzExamples.files("command/invalid") },
    body: { input in
      let command: Command
      do throws(DomainError) { command = try Command(json: input) } catch { return }
      let json = command.json()
      try FuzzFinding.unless(try Command(json: json).json() == json, "the command changed when written and read")
    })

  private static let logRecord = FuzzTarget(
    name: "log-record", form: .bytes, cases: 30_000, seeds: { try FuzzTraffic.logRecords() },
    body: { input in
      _ = LogRecord.eventPlaces(in: input)
      let record: LogRecord
      do throws(BinaryError) { record = try LogRecord(bytes: input) } catch { return }
      try requireLogKeeps(record.content, origin: record.origin)
    })

  /// The headers of a dead letter.
  private static let deadLetter = FuzzTarget(
    name: "dead-letter", form: .text, cases: 15_000,
    seeds: {
      [
        """
        rouse-reason: WRONG_TYPE
        rouse-message: $.time: missing
        rouse-origin-topic: events
        rouse-origin-partition: 1
        rouse-origin-offset: 17
        rouse-origin-timestamp: 1372672800000
        rouse-truncated: 5000000

        {"a":1}
        """,
        """
        rouse-reason: REPLAYED
        rouse-replayed-offset: 3

        """,
      ].map { Array($0.utf8) }
    },
    body: { input in
      let record = kafkaRecord(input)
      let message = KafkaMessage(
        topic: "rouse.dead-letters", partition: 0, offset: 0,
        timestampMilliseconds: record.timestamp.microseconds / 1000,
        key: record.key, value: record.value, headers: record.headers.map { KafkaHeader($0.name, $0.value) })
      let letter = DeadLetterRecord(message)
      try FuzzFinding.unless(letter.message.value == record.value, "the letter lost its value")
    })

  // MARK: Kafka records as text

  /// Reads an input as headers, an empty line and the value. Without an empty line all is the value, in structured mode.
  static func kafkaRecord(_ input: [UInt8]) -> CloudEventRecord {
    let arrival = Timestamp(microseconds: 1_372_705_500_000_000)
    let newline = UInt8(ascii: "\n")
    guard let gap = input.firstRange(of: [newline, newline]), input.first != UInt8(ascii: "{") else {
      return CloudEventRecord(value: input, timestamp: arrival)
    }
    let headers = input[..<gap.lowerBound].split(separator: newline).map { line in
      let halves = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      return CloudEventRecord.Header(
        name: String(decoding: halves[0], as: UTF8.self),
        value: halves.count > 1 ? Array(halves[1].drop { $0 == UInt8(ascii: " ") }) : nil)
    }
    let key = headers.first { $0.name == "key" }?.value
    return CloudEventRecord(headers: headers, key: key, value: Array(input[gap.upperBound...]), timestamp: arrival)
  }

  private static func structured(_ json: [UInt8]) -> [UInt8] {
    Array("content-type: application/cloudevents+json\n\n".utf8) + json
  }

  /// - Throws: a finding when a name is longer than the bound.
  private static func requireBounded(_ names: [Identifier]) throws(FuzzFinding) {
    for name in names where name.utf8.count > DomainBounds.nameBytesMax {
      throw FuzzFinding("a name of \(name.utf8.count) bytes was accepted")
    }
  }

  /// - Throws: a finding when the log's bytes of a record change by reading and writing them.
  private static func requireLogKeeps(_ content: LogRecord.Content, origin: Origin? = nil) throws {
    var bytes: [UInt8] = []
    LogRecord(origin: origin, content: content).encode(into: &bytes)
    var again: [UInt8] = []
    try LogRecord(bytes: bytes).encode(into: &again)
    try FuzzFinding.unless(again == bytes, "the log record changed when it was written and read")
  }
}
