import Domain
import Testing

@Suite("CloudEvents over Kafka") struct CloudEventTests {
  private let recordTime = Timestamp(microseconds: 1_372_705_500_000_000)

  private func record(_ headers: [(String, String)], _ value: String?, key: String? = nil) -> CloudEventRecord {
    CloudEventRecord(
      headers: headers.map { .init(name: $0.0, value: Array($0.1.utf8)) }, key: key.map { Array($0.utf8) },
      value: value.map { Array($0.utf8) }, timestamp: recordTime)
  }

  private let binary = [
    ("ce_specversion", "1.0"), ("ce_id", "e1"), ("ce_source", "/s"), ("ce_type", "t"), ("ce_subject", "x/1"),
    ("ce_time", "2013-07-01T10:05:00Z"), ("ce_traceparent", "00-1"), ("ce_sequence", "7"),
    ("content-type", "application/json"),
  ]
  private let structured = #"{"specversion":"1.0","id":"e1","source":"/s","type":"t","subject":"x/1","data":{"a":1}}"#

  private func decode(_ record: CloudEventRecord) throws(DomainError) -> DomainEvent {
    try CloudEventDecoder().decode(record)
  }

  private func failure(_ record: CloudEventRecord) -> String? {
    refusal { () throws(DomainError) in try decode(record) }.map { "\($0.code.rawValue) \($0)" }
  }

  @Test("binary mode takes attributes from headers and data from the value")
  func binaryMode() throws {
    let event = try decode(record(binary, #"{"b":"y","a":[true,null]}"#))
    #expect(
      event
        == DomainEvent(
          id: "e1", source: "/s", type: "t", subject: "x/1", time: Timestamp(microseconds: 1_372_673_100_000_000),
          traceparent: "00-1",
          fields: [
            EventField(path: "data.a.0", value: .bool(true)), EventField(path: "data.a.1", value: .null),
            EventField(path: "data.b", value: .string("y")),
          ]))
  }

  @Test("binary mode without data, or without a content type, is taken")
  func binaryWithout() throws {
    #expect(try decode(record(binary, nil)).fields == [])
    #expect(try decode(record(binary, "")).fields == [])
    #expect(try decode(record(binary.filter { $0.0 != "content-type" }, "{\"a\":1}")).fields.count == 1)
    #expect(try decode(record(binary.filter { $0.0 != "ce_time" }, nil)).time == recordTime)
    #expect(try decode(record(binary.map { ($0.0.uppercased(), $0.1) }, "{\"a\":1}")).fields.count == 1)
  }

  @Test(
    "structured mode is known by its content type, or by the lack of any",
    arguments: [
      [("content-type", "application/cloudevents+json")],
      [("Content-Type", "Application/CloudEvents+JSON; charset=UTF-8")],
      [], [("traceid", "x")],
    ] as [[(String, String)]])
  func structuredMode(headers: [(String, String)]) throws {
    let event = try decode(record(headers, structured))
    #expect(event.subject == "x/1")
    #expect(event.time == recordTime)
    #expect(event.value(at: "data.a") == .number(1))
  }

  @Test("an unsupported form is refused by name")
  func unsupported() {
    #expect(
      failure(record([("content-type", "application/cloudevents-batch+json")], "[]"))
        == "UNSUPPORTED_CONTENT_TYPE content-type: batched content mode is not supported; send one event per record")
    #expect(
      failure(record([("content-type", "application/cloudevents+avro")], "x"))
        == "UNSUPPORTED_CONTENT_TYPE content-type: expected application/cloudevents+json, or JSON data with ce_ headers, found \"application/cloudevents+avro\""
    )
    #expect(
      failure(record(binary.filter { $0.0 != "content-type" } + [("content-type", "text/xml")], "<a/>"))?.hasPrefix(
        "UNSUPPORTED_CONTENT_TYPE content-type:") == true)
    #expect(
      failure(record([("content-type", "application/json")], structured))
        == "MISSING_FIELD ce_specversion: missing; expected \"1.0\" in a header, or a value with content type application/cloudevents+json"
    )
  }

  @Test(
    "a missing or wrong header is refused by name",
    arguments: ["ce_specversion", "ce_id", "ce_source", "ce_type", "ce_subject"])
  func headers(name: String) {
    #expect(
      failure(record(binary.filter { $0.0 != name }, nil))?.hasPrefix("MISSING_FIELD \(name): missing; expected ")
        == true)
    #expect(
      failure(
        record(
          binary.map { $0.0 == name && name != "ce_specversion" ? (name, "") : $0 }.map {
            $0.0 == "ce_specversion" && name == $0.0 ? (name, "0.3") : $0
          }, nil))?.contains(" \(name): expected ") == true)
    let long = binary.map { $0.0 == name ? (name, String(repeating: "x", count: 257)) : $0 }
    #expect(failure(record(long, nil)) == "OUT_OF_BOUNDS \(name): expected a string of at most 256 bytes, found 257")
    var invalid = record(binary, nil)
    for i in invalid.headers.indices where invalid.headers[i].name == name { invalid.headers[i].value = [0xFF] }
    #expect(failure(invalid) == "INVALID_UTF8 \(name): expected UTF-8")
    for i in invalid.headers.indices where invalid.headers[i].name == name { invalid.headers[i].value = nil }
    #expect(failure(invalid)?.hasPrefix("MISSING_FIELD \(name): ") == true)
  }

  @Test(
    "bytes that are not JSON are refused with their place",
    arguments: [
      (nil, "MISSING_FIELD $: missing; expected a CloudEvent, found a record without value"),
      ("", "INVALID_JSON $: at byte 0: ends too early; expected a value"),
      ("{\"specversion\":\"1.0\"", "INVALID_JSON $: at byte 20: ends too early; expected \",\" or \"}\""),
      ("17", "WRONG_TYPE $: expected an object, found a number"),
    ] as [(String?, String)])
  func notJSON(value: String?, message: String) { #expect(failure(record([], value)) == message) }

  @Test("the bounds of events are enforced, each by name")
  func bounds() throws {
    func event(_ data: String) -> CloudEventRecord {
      record([], #"{"specversion":"1.0","id":"e1","source":"/s","type":"t","subject":"x/1","data":\#(data)}"#)
    }
    let numbers = { (count: Int) in "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]" }
    #expect(try decode(event(numbers(256))).fields.count == 256)
    #expect(
      failure(event(numbers(257)))
        == "OUT_OF_BOUNDS $.data[256]: expected at most 256 scalars in the data, found one more")
    let nested = { (levels: Int) in String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels)
    }
    #expect(try decode(event(nested(31))).fields.count == 1)
    #expect(failure(event(nested(32)))?.hasPrefix("TOO_DEEP $: at byte ") == true)
    #expect(
      failure(event("\"" + String(repeating: "x", count: 2_000_000) + "\""))
        == "TOO_LARGE $: expected at most 262144 bytes, found 2000082")
    let text = { (text: String) in try decode(event("{\"long\":\"" + text + "\"}")).fields.first?.value }
    #expect(try text(String(repeating: "x", count: 8192)) == .string(String(repeating: "x", count: 8192)))
    #expect(try text(String(repeating: "x", count: 8193)) == .string(String(repeating: "x", count: 8192)))
    // A string is never cut in the middle of a character.
    #expect(
      try text(String(repeating: "x", count: 8190) + "€uro") == .string(String(repeating: "x", count: 8190)))
    #expect(
      failure(event("{\"" + String(repeating: "k", count: 252) + "\":1}"))?.hasPrefix("OUT_OF_BOUNDS $.data") == true)
    var bad = event("{}")
    bad.value?[12] = 0xFF
    #expect(failure(bad)?.hasPrefix("INVALID_UTF8 $: at byte ") == true)
  }

  @Test("fields are sorted by path, and the first one of a repeated path counts")
  func sorting() throws {
    let data = (0..<40).map { "\"k\(($0 * 7) % 40)\":\($0)" }.joined(separator: ",")
    let many = try decode(
      record([], #"{"specversion":"1.0","id":"e1","source":"/s","type":"t","subject":"x/1","data":{\#(data)}}"#))
    #expect(many.fields.count == 40)
    #expect(many.fields.map(\.path) == many.fields.map(\.path).sorted())
    #expect(many.value(at: "data.k7") == .number(1))
    let twice = try decode(
      record(
        [],
        #"{"specversion":"1.0","id":"e1","source":"/s","type":"t","subject":"x/1","data":{"b":1,"a":{"c":3},"b":2,"a.c":4}}"#
      ))
    #expect(
      twice.fields == [EventField(path: "data.a.c", value: .number(3)), EventField(path: "data.b", value: .number(1))])
  }

  @Test("a decoder that refused a record reads the next one")
  func reuse() throws {
    let decoder = CloudEventDecoder()
    for _ in 0..<3 {
      #expect(throws: DomainError.self) { try decoder.decode(record([], "{\"specversion\":")) }
      #expect(throws: DomainError.self) {
        try decoder.decode(
          record(
            [],
            #"{"specversion":"1.0","id":"e1","source":"/s","type":"t","subject":"x","data":[1,{"\#(String(repeating: "k", count: 300))":1}]}"#
          ))
      }
      #expect(try decoder.decode(record([], structured)).fields == [EventField(path: "data.a", value: .number(1))])
    }
  }

  @Test("a signal's device may stand in data, subject or key, and they must agree")
  func signalDevice() throws {
    func signal(_ subject: String?, _ data: String?, _ key: String?) -> CloudEventRecord {
      let subject = subject.map { #","subject":"\#($0)""# } ?? ""
      let data = data.map { #","data":{"device":"\#($0)"}"# } ?? ""
      return record(
        [], #"{"specversion":"1.0","id":"s","source":"/a","type":"rouse.signal.widget.viewed"\#(subject)\#(data)}"#,
        key: key)
    }
    let decoder = SignalDecoder()
    for record in [signal("d", nil, nil), signal(nil, "d", nil), signal(nil, nil, "d"), signal("d", "d", "d")] {
      #expect(try decoder.decode(record).device == "d")
    }
    for (record, path) in [
      (signal("d", "e", nil), "$.subject"), (signal("d", nil, "e"), "key"), (signal(nil, "d", "e"), "key"),
    ] {
      let error = refusal { () throws(DomainError) in try decoder.decode(record) }
      #expect(error?.code == .keyMismatch)
      #expect(error?.path == path)
    }
    #expect(refusal { () throws(DomainError) in try decoder.decode(signal(nil, nil, nil)) }?.code == .missingField)
  }

  @Test("an unknown signal is refused with the nearest name")
  func unknownSignal() {
    let headers = binary.filter { $0.0 != "ce_type" } + [("ce_type", "rouse.signal.token.reject")]
    let error = refusal { () throws(DomainError) in try SignalDecoder().decode(record(headers, nil)) }
    #expect(error?.code == .unknownType)
    #expect(
      error?.description
        == "ce_type: expected a signal type, found \"rouse.signal.token.reject\"; did you mean \"rouse.signal.token.rejected\"?"
    )
  }

  @Test("a registration under another key is refused")
  func registrationKey() {
    let json = Array(
      #"{"device":"d-1","app":"a","environment":"sandbox","platform":"iOS","osVersion":"26","timeZone":"UTC","updatedAt":"2013-07-01T10:05:00Z"}"#
        .utf8)
    let decoder = RegistrationDecoder()
    #expect(refusal { () throws(DomainError) in try decoder.decode(json, key: Array("d-1".utf8)) } == nil)
    #expect(
      refusal { () throws(DomainError) in try decoder.decode(json, key: Array("d-2".utf8)) }?.description
        == "$.device: expected the record's key \"d-2\", found \"d-1\"")
  }

  @Test("a decoder that has seen many other events decodes as a new one does")
  func sharedStrings() throws {
    var random = RandomDomain(seed: 3)
    let decoder = CloudEventDecoder()
    for _ in 0..<3000 {
      let data = (0..<4).map { _ in "\"k\(random.int(0...2000))\(String(repeating: "x", count: random.int(0...70)))\":1"
      }
      let event = record(
        [],
        #"{"specversion":"1.0","id":"e1","source":"/s\#(random.int(0...2000))","type":"t\#(random.int(0...9))","subject":"x","data":{\#(data.joined(separator: ","))}}"#
      )
      #expect(try decoder.decode(event) == decode(event))
    }
  }

  @Test(
    "an attribute that comes twice is refused, whether or not both values are the same",
    arguments: [
      (#""source":"/a","source":"/b","#, "$.source"), (#""source":"/a","sourc\u0065":"/a","#, "$.source"),
      (#""source":"/a","id":"2","#, "$.id"), (#""source":"/a","time":null,"time":null,"#, "$.time"),
      (#""source":"/a","data":1,"#, "$.data"), (#""source":"/a","mine":1,"mine":2,"#, "$.mine"),
      (
        #""source":"/a","# + (0..<30).map { #""a\#($0)":1,"# }.joined() + #""a7":1,"#, "$.a7"
      ),
    ])
  func doubledMember(members: String, path: String) {
    let json = #"{"specversion":"1.0","id":"1","type":"t",\#(members)"subject":"x","data":{"k":1,"k":2}}"#
    #expect(
      throws: DomainError(
        .invalidValue, path: path, message: "expected one value, found \"\(path.dropFirst(2))\" twice")
    ) {
      try CloudEventDecoder().decode(
        CloudEventRecord(value: Array(json.utf8), timestamp: Timestamp(microseconds: 0)))
    }
  }

  @Test(
    "in binary mode an attribute's header must not come twice, in any letter case",
    arguments: ["ce_source", "CE_Source", "ce_subject", "ce_mine", "content-type", "other"])
  func doubledHeader(name: String) {
    let names = [
      "ce_specversion", "ce_id", "ce_source", "ce_type", "ce_subject", "ce_mine", "Content-Type", "other", name,
    ]
    let headers = names.map { header in
      let value = header.lowercased() == "content-type" ? "application/json" : "1.0"
      return CloudEventRecord.Header(name: header, value: Array(value.utf8))
    }
    func decode() throws(DomainError) {
      _ = try CloudEventDecoder().decode(
        CloudEventRecord(headers: headers, value: Array("{}".utf8), timestamp: Timestamp(microseconds: 0)))
    }
    if name == "other" {
      #expect(throws: Never.self) { try decode() }
    } else {
      let found = name.lowercased()
      #expect(throws: DomainError(.invalidValue, path: found, message: "expected one value, found \"\(found)\" twice"))
      {
        try decode()
      }
    }
  }
}
