import Domain

/// Makes random values of the domain within its bounds.
struct RandomDomain {
  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func bool() -> Bool { Bool.random(using: &random) }
  mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? { bool() ? make(&self) : nil }
  mutating func one<Value: CaseIterable>(_ type: Value.Type) -> Value where Value.AllCases == [Value] {
    Value.allCases[int(0...Value.allCases.count - 1)]
  }
  mutating func list<Value>(_ max: Int, _ make: (inout Self) -> Value) -> [Value] {
    (0..<int(0...max)).map { _ in make(&self) }
  }

  /// Returns a text of 1 to 60 bytes. Now and then it has characters that JSON escapes.
  mutating func name() -> Identifier {
    let scalars = Array("abcXYZ019/-_.:\"\\\n\u{0}\u{7F}é😀{} ".unicodeScalars)
    return Identifier(
      String(String.UnicodeScalarView((0..<int(1...15)).map { _ in scalars[int(0...scalars.count - 1)] })))
  }

  mutating func token() -> String {
    String((0..<int(1...100)).map { _ in Array("0123456789abcdefABCDEF")[int(0...21)] })
  }

  mutating func instant() -> Timestamp {
    Timestamp(microseconds: Int64.random(in: -62_167_219_200_000_000...253_402_300_799_999_999, using: &random))
  }

  /// Returns a number with at most six decimals, as decisions write it.
  mutating func decimal() -> Double { Double(int(-2_000_000...2_000_000)) / 1e6 }

  mutating func registration() -> Registration {
    var id = 0
    func next(_ name: Identifier) -> Identifier {
      id += 1
      return "\(name)\(id)"
    }
    return Registration(
      device: name(), app: name(), environment: one(Registration.Environment.self), platform: name().text,
      osVersion: OSVersion(major: UInt16(int(0...65535)), minor: UInt16(int(0...65535))), timeZone: name().text,
      developerMode: bool(), tokens: .init(widgets: maybe { $0.token() }, background: maybe { $0.token() }),
      widgets: list(4) {
        .init(
          id: next($0.name()), kind: $0.name(), family: $0.maybe { $0.name().text }, pushEnabled: $0.bool(),
          interests: $0.list(5) { $0.name() }, nextReload: $0.maybe { $0.instant() })
      },
      controls: list(3) {
        .init(id: next($0.name()), kind: $0.name(), token: $0.token(), interests: $0.list(5) { $0.name() })
      },
      activities: list(3) {
        .init(
          id: next($0.name()), kind: $0.name(), address: $0.bool() ? .token($0.token()) : .channel($0.name()),
          interests: $0.list(5) { $0.name() }, startedAt: $0.instant(), frequentPushes: $0.bool())
      },
      pushToStart: list(2) { .init(kind: $0.name(), token: $0.token(), interests: $0.list(2) { $0.name() }) },
      updatedAt: instant())
  }

  private mutating func activity() -> Signal.ReportedActivity {
    Signal.ReportedActivity(instance: name(), kind: maybe { $0.name() }, subject: maybe { $0.name() })
  }

  mutating func signal() -> Signal {
    let kind: Signal.Kind =
      switch int(0...8) {
      case 0: .appForegrounded
      case 1: .appBackgrounded
      case 2:
        .widgetFetched(
          instance: maybe { $0.name() },
          cause: maybe { $0.one(Signal.FetchCause.self) })
      case 3: .widgetViewed(instance: maybe { $0.name() })
      case 4: .activityStarted(activity())
      case 5: .activityEnded(activity())
      case 6: .activityDismissed(activity())
      case 7: .tokenRejected(token: token())
      default: .deliveryCompleted(command: name(), outcome: one(Signal.DeliveryOutcome.self))
      }
    return Signal(device: name(), id: name(), time: instant(), kind: kind)
  }

  mutating func event() -> DomainEvent {
    DomainEvent(
      id: name(), source: name(), type: name(), subject: name(), time: instant(), traceparent: maybe { $0.name().text },
      fields: list(10) {
        let value: FieldValue =
          switch $0.int(0...3) {
          case 0: .null
          case 1: .bool($0.bool())
          case 2: .number(Double(bitPattern: UInt64($0.int(0...0x7FEF_FFFF_FFFF_FFFF))))
          default: .string($0.name().text)
          }
        return EventField(path: "data.\($0.name())", value: value)
      })
  }

  mutating func policy() -> PolicyReference { PolicyReference(version: name(), hash: "0123456789abcdef") }

  mutating func decision() -> Decision {
    Decision(
      decision: name(), event: name(), events: list(4) { $0.name() }, device: name(), instance: name(), kind: name(),
      surface: one(Surface.self), verdict: one(Verdict.self), reason: one(Reason.self), final: bool(), at: instant(),
      relevance: decimal(), wrong: decimal(), looks: decimal(), value: decimal(), price: decimal(),
      tokensLeft: .init(
        instance: maybe { $0.int(-5...100) }, device: maybe { $0.int(0...9) }, app: maybe { $0.int(0...Int.max) }),
      until: maybe { $0.instant() }, command: maybe { $0.name() },
      objective: maybe { $0.one(ObjectiveResult.self) }, policy: policy(), traceparent: maybe { $0.name().text })
  }

  mutating func command() -> Command {
    var names: Set<Identifier> = []
    let headers = list(4) { Command.Header(name: $0.name(), value: $0.name().text) }.filter {
      names.insert($0.name).inserted
    }
    return Command(
      command: name(), device: name(), app: name(), environment: one(Registration.Environment.self),
      surface: one(Surface.self),
      serves: list(3) {
        .init(instance: $0.name(), kind: $0.name(), events: $0.list(3) { $0.name() }, reason: $0.one(Reason.self))
      },
      charged: list(3) { .init(ledger: $0.one(Command.Ledger.self), owner: $0.name(), left: $0.int(0...200)) },
      apns: .init(
        address: bool() ? .token(token()) : .channel(name()), headers: headers.sorted { $0.name < $1.name },
        payload: bool() ? "{\"aps\":{\"content-changed\":true}}" : "{\"n\":[1,-2.5,null,\"\\n\"],\"s\":{}}"),
      at: instant(), expires: instant(), policy: policy(), traceparent: maybe { $0.name().text },
      subject: maybe { $0.name() })
  }

  mutating func logRecord() -> LogRecord {
    let content: LogRecord.Content =
      switch int(0...5) {
      case 0: .event(event())
      case 1: .registration(registration())
      case 2: .forget(device: name())
      case 3: .signal(signal())
      case 4: .policy(document: name().text)
      default: .tick
      }
    let origin = maybe {
      Origin(topic: $0.name().text, partition: Int32($0.int(0...1000)), offset: Int64($0.int(0...Int.max)))
    }
    return LogRecord(origin: origin, content: content)
  }
}
