import KafkaClient
import Pipeline
import Testing

@testable import rouse

@Suite("Secrets in kafka.properties")
struct SecretTests {
  private static let secret = "hunter2"

  /// Settings files and command lines with a password, some of them with a mistake.
  private static let inputs: [(yaml: String?, assignment: String?)] = [
    ("kafka: { properties: { sasl.password: \(secret) } }", nil),
    ("kafka: { properties: { sasl.pasword: \(secret) } }", nil),
    ("kafka: { properties: { SASL_PASSWORD: \(secret) } }", nil),
    ("kafka: { properties: { sasl: { password: \(secret) } } }", nil),
    ("kafka: { properties: [sasl.password=\(secret)] }", nil),
    ("kafka: { properties: [sasl.pasword=\(secret)] }", nil),
    ("kafka: { properties: [\"sasl.password \(secret)\"] }", nil),
    ("kafka: { properties: [sasl.password: \(secret)] }", nil),
    ("kafka: { properties: sasl.password=\(secret) }", nil),
    ("kafka: { propertys: { sasl.password: \(secret) } }", nil),
    ("kafka: { properties: { sasl.password: \"\(secret)", nil),
    ("kafka: { properties: { sasl.password: 'a', sasl.password: \(secret) } }", nil),
    (nil, "kafka.properties=sasl.password=\(secret)"),
    (nil, "kafka.properties=sasl.pasword=\(secret)"),
    (nil, "kafka.properties=sasl.password=a,\(secret)"),
    (nil, "kafka.properties=sasl.password=a,\(secret)=b"),
    (nil, "kafka.properties=sasl.password=a\\,\(secret)"),
    (nil, "kafka.property=sasl.password=\(secret)"),
  ]

  @Test("a password never reaches the terminal, however it is misspelt", arguments: inputs.indices)
  func hidden(_ index: Int) throws {
    let input = Self.inputs[index]
    let place = try Workplace()
    var arguments = ["run", "--print-config"]
    if let yaml = input.yaml {
      try place.put(yaml, "rouse.yaml")
      arguments += ["--config", "rouse.yaml"]
    }
    if let assignment = input.assignment { arguments += ["--set", assignment] }
    for format in ["text", "json"] {
      let outcome = try place.rouse(list: arguments + ["--format", format])
      #expect(!(outcome.out + outcome.err).contains(Self.secret), "\(outcome.out)\(outcome.err)")
      #expect(outcome.status == 0 || outcome.err.hasPrefix("rouse: "))
    }
  }

  @Test("the same holds for the environment and for the benchmarks")
  func elsewhere() throws {
    for text in ["sasl.pasword=\(Self.secret)", "sasl.password=a,\(Self.secret)", Self.secret] {
      let run = try Workplace().rouse("run", "--print-config", environment: ["ROUSE_KAFKA_PROPERTIES": text])
      #expect(run.status == 1)
      #expect(run.err.hasPrefix("rouse: environment ROUSE_KAFKA_PROPERTIES: kafka.properties: part "), "\(run.err)")
      #expect(!run.err.contains(Self.secret), "\(run.err)")
    }
    for text in ["sasl.pasword=\(Self.secret)", Self.secret] {
      let bench = try Workplace().rouse("bench", "latency", "--property", text)
      #expect(bench.status == 2)
      #expect(!bench.err.contains(Self.secret), "\(bench.err)")
    }
  }

  @Test("and for a file of properties, whose refusal names the line alone")
  func file() throws {
    let cases = [
      (
        "# ok\n\nsasl.pasword=\(Self.secret)\n",
        "3: librdkafka has no property of that name; did you mean sasl.password?"
      ),
      ("sasl.password=ok\r\n\(Self.secret)\r\n", "2: expected name=value, or a comment that begins with #"),
      ("=\(Self.secret)", "1: expected name=value, or a comment that begins with #"),
    ]
    for (text, expected) in cases {
      let place = try Workplace()
      try place.put(text, "kafka.properties")
      for format in ["text", "json"] {
        let outcome = try place.rouse(
          "run", "--print-config", "--format", format,
          environment: ["ROUSE_KAFKA_PROPERTIES_FILE": "kafka.properties"])
        #expect(outcome.status == 1)
        #expect(outcome.err == "rouse: kafka.propertiesFile: kafka.properties:\(expected)\n")
        #expect(!(outcome.out + outcome.err).contains(Self.secret), "\(outcome.out)\(outcome.err)")
      }
    }
  }

  @Test("a file of properties takes precedence, and is named but not shown")
  func fileOfProperties() throws {
    let place = try Workplace()
    try place.put(" sasl.password =\t a,b\\c=\(Self.secret) \n#x\nlinger.ms=8", "kafka.properties")
    let assignments = [
      "kafka.propertiesFile=\(place.path("kafka.properties"))", "kafka.properties=linger.ms=7,client.rack=a",
    ]
    let kafka = try Settings(assignments: assignments, environment: [:], file: nil).pipeline().kafka
    #expect(kafka["sasl.password"] == "a,b\\c=\(Self.secret)")
    #expect(kafka["linger.ms"] == "8")
    #expect(kafka["client.rack"] == "a")
    let shown = try place.rouse("run", "--print-config", "--set", "kafka.propertiesFile=kafka.properties")
    #expect(shown.status == 0)
    #expect(shown.out.contains("kafka.properties  (flag)"))
    #expect(!shown.out.contains(Self.secret))
    let missing = try place.rouse("run", "--print-config", "--set", "kafka.propertiesFile=none")
    #expect(missing.status == 2)
    #expect(missing.err.hasPrefix("rouse: kafka.propertiesFile: none: there is no such file\n"), "\(missing.err)")
  }

  private func properties(_ assignment: String) throws -> [String: String] {
    let settings = try Settings(assignments: [assignment], environment: [:], file: nil)
    return Dictionary(uniqueKeysWithValues: settings.properties(.kafkaProperties).map { ($0.name, $0.value) })
  }

  @Test("properties are a mapping, a list, or texts with commas; a comma inside a value is escaped")
  func forms() throws {
    let expected = ["security.protocol": "SASL_SSL", "sasl.password": #"a,b\c"#]
    #expect(
      try properties(#"kafka.properties=security.protocol=SASL_SSL, sasl.password=a\,b\c"#) == expected)
    for yaml in [
      "kafka:\n  properties:\n    security.protocol: SASL_SSL\n    sasl.password: 'a,b\\c'\n",
      "kafka:\n  properties:\n    - security.protocol=SASL_SSL\n    - 'sasl.password=a,b\\c'\n",
    ] {
      let settings = try Settings(
        assignments: [], environment: [:], file: try SettingsFile(path: "rouse.yaml", yaml: yaml))
      let kafka = try settings.pipeline().kafka
      for (name, value) in expected { #expect(kafka[name] == value) }
    }
    #expect(try properties("kafka.properties=").isEmpty)
  }

  @Test("a mapping is taken: it was ignored before")
  func mapping() throws {
    let place = try Workplace()
    try place.put("kafka:\n  properties:\n    linger.ms: 7\n    sasl.password: x\n", "rouse.yaml")
    let outcome = try place.rouse("run", "--print-config", "--config", "rouse.yaml")
    #expect(outcome.status == 0)
    #expect(outcome.lines.contains { $0.hasSuffix("linger.ms=7, sasl.password=[secret]  (file rouse.yaml)") })
  }

  @Test("a misspelt property is refused with the name that was probably meant")
  func misspelt() throws {
    #expect {
      try properties("kafka.properties=sasl.pasword=x")
    } throws: { error in
      "\(error)".contains("part 1: librdkafka has no property of that name; did you mean sasl.password?")
    }
    #expect {
      try properties("kafka.properties=linger.ms=soon")
    } throws: { error in
      "\(error)".contains("linger.ms: ")
    }
  }

  @Test("librdkafka lists the properties that it accepts")
  func refusals() {
    #expect(KafkaConfiguration.refusal(of: "linger.ms", "5") == nil)
    #expect(KafkaConfiguration.refusal(of: "bootstrap.servers", "a:1,b:2") == nil)
    #expect(KafkaConfiguration.refusal(of: "partitioner", "murmur2") == nil)
    #expect(KafkaConfiguration.refusal(of: "lingr.ms", "5") == .unknownName)
    guard case .value(let reason)? = KafkaConfiguration.refusal(of: "linger.ms", "soon") else {
      Issue.record("the value was accepted")
      return
    }
    #expect(reason.contains("Invalid value"))
  }
}
