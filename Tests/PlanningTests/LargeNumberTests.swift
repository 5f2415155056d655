import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of events with integers that not every double can hold.
@Suite("Large numbers in events")
struct LargeNumberTests {
  private static let policy = """
    version: "1"
    kinds:
      OrderActivity:
        surface: liveActivity
        activity:
          attributesType: OrderAttributes
          attributes: { orderId: "{data.orderId}" }
          contentState: { order: "{data.orderId}", text: "Order {data.orderId}", price: "{data.price}", total: "{data.total}" }
          alert: { title: "Order {data.orderId}", body: "{data.step}" }
        rules:
          - { event: order.placed, action: start, interests: ["order/{data.orderId}"], relevance: { base: 0.9 } }
      OrderWidget:
        budget: { perDay: 48, minInterval: 0s }
        displays: [ { field: data.number } ]
        rules:
          - event: order.*
            when: { field: data.level, in: [9007199254740995, -9007199254740995] }
            interests: ["level"]
          - { event: order.*, interests: ["order/{data.orderId}"], relevance: { base: 0.9 } }
    """

  private static func harness(partition: Int32 = 0, of count: Int32 = 1) throws -> H {
    H(try PolicyDocument(yaml: policy, file: "policy").policy, partition: partition, partitionCount: count)
  }

  private static func phone(_ device: Identifier, _ key: Identifier) -> Registration {
    var registration = Registration.phone(device, widgets: [.flight("w", kind: "OrderWidget", interests: [key])])
    registration.pushToStart = [
      Registration.PushToStart(kind: "OrderActivity", token: "d0\(device == "alice" ? "01" : "02")", interests: [key])
    ]
    return registration
  }

  /// The last record's decision about the widget; nil if there is none, or if no rule holds for it.
  private static func widget(_ h: H) -> Decision? { h.last.first { $0.instance == "w" && $0.reason != .noMatch } }

  private static func integer(_ magnitude: UInt64, isNegative: Bool = false) -> FieldValue {
    FieldValue(magnitude: magnitude, isNegative: isNegative)
  }

  private static func order(_ fields: [(Identifier, FieldValue)], id: Identifier = "o1", minute: Int64 = 0)
    -> DomainEvent
  {
    DomainEvent(
      id: id, source: "/shop", type: "order.placed", subject: "orders",
      time: Timestamp(microseconds: H.noon + minute * H.minute),
      fields: fields.map { EventField(path: $0.0, value: $0.1) }.sorted { $0.path < $1.path })
  }

  @Test("an event reaches the owner of its number, not of the nearest double, and its texts have all digits")
  func interestKey() throws {
    var h = try Self.harness()
    h.register(Self.phone("alice", "order/9007199254740993"))
    h.register(Self.phone("bob", "order/9007199254740992"))
    h.event(
      Self.order([
        ("data.orderId", Self.integer(9_007_199_254_740_993)), ("data.step", .string("placed")),
        ("data.price", .number(19.99)), ("data.total", .number(1e21)),
      ]))
    #expect(Set(h.last.map(\.device)) == ["alice"])
    let payloads = h.lastCommands.map(\.apns.payload)
    #expect(
      payloads.contains {
        $0.contains(
          #""content-state":{"order":9007199254740993,"text":"Order 9007199254740993","price":19.99,"total":1e+21}"#)
      }, "\(payloads)")
    #expect(payloads.contains { $0.contains(#""attributes":{"orderId":9007199254740993}"#) })
    #expect(payloads.contains { $0.contains(#""title":"Order 9007199254740993""#) })
  }

  @Test("the whole range of 64 bits, signed and unsigned, makes keys")
  func range() throws {
    for (key, value) in [
      ("18446744073709551615", Self.integer(.max)), ("-9223372036854775808", Self.integer(1 << 63, isNegative: true)),
      ("9223372036854775808", Self.integer(1 << 63)), ("9007199254740992", Self.integer(1 << 53)),
    ] {
      var h = try Self.harness()
      h.register(Self.phone("alice", Identifier("order/\(key)")))
      h.event(Self.order([("data.orderId", value)]))
      #expect(h.last.contains { $0.instance == "w" && $0.verdict == .emit }, "\(key)")
    }
  }

  @Test("conditions compare integers exactly")
  func conditions() throws {
    for (value, holds) in [
      (Self.integer(9_007_199_254_740_995), true), (Self.integer(9_007_199_254_740_995, isNegative: true), true),
      (Self.integer(9_007_199_254_740_996), false), (Self.integer(9_007_199_254_740_994), false),
      (.number(9_007_199_254_740_996), false),
    ] {
      var h = try Self.harness()
      h.register(Self.phone("alice", "level"))
      h.event(Self.order([("data.level", value), ("data.number", .number(1))]))
      #expect(Self.widget(h)?.verdict == (holds ? .emit : nil), "\(value)")
    }
  }

  @Test("a screen that shows the neighbour of a number is wrong, and one that shows the number is right")
  func displayed() throws {
    var h = try Self.harness()
    h.register(Self.phone("alice", "level"))
    func event(_ number: UInt64, _ minute: Int64) -> DomainEvent {
      Self.order(
        [("data.level", Self.integer(9_007_199_254_740_995)), ("data.number", Self.integer(number))],
        id: "o\(minute)", minute: minute)
    }
    h.event(event(9_007_199_254_740_992, 0))
    #expect(Self.widget(h)?.verdict == .emit)
    h.event(event(9_007_199_254_740_993, 1))
    #expect(Self.widget(h)?.verdict == .emit)
    h.event(event(9_007_199_254_740_993, 2))
    #expect(Self.widget(h)?.reason == .notVisible)
  }

  @Test(
    "an event with a longer integer in a field that is read is refused by every planner, and counted by one",
    arguments: ["data.orderId", "data.level", "data.number", "data.total", "data.step"] as [Identifier])
  func refused(field: Identifier) throws {
    var counts = 0
    for partition in 0..<Int32(4) {
      var h = try Self.harness(partition: partition, of: 4)
      h.register(Self.phone("alice", "order/7"))
      var fields: [Identifier: FieldValue] = ["data.orderId": .number(7)]
      fields[field] = .inexact(1e20)
      h.event(Self.order(fields.map { ($0.key, $0.value) }))
      #expect(h.last.isEmpty && h.planner.isIdle)
      counts += h.planner.inexactNumbers.events
      if h.planner.inexactNumbers.events > 0 { #expect(h.planner.inexactNumbers.field == field) }
      // The event has left nothing behind: one with the same id and a plain number is no repeat.
      h.event(Self.order([("data.orderId", .number(7))]))
      #expect(h.last.contains { $0.verdict == .emit })
    }
    #expect(counts == 1)
  }

  @Test("a longer integer that nothing reads changes nothing")
  func unread() throws {
    var h = try Self.harness()
    h.register(Self.phone("alice", "order/7"))
    h.event(Self.order([("data.orderId", .number(7)), ("data.serial", .inexact(1e20))]))
    #expect(h.last.contains { $0.instance == "w" && $0.verdict == .emit })
    #expect(h.planner.inexactNumbers.events == 0)
  }

  @Test("a policy cannot name a longer integer")
  func policyNumber() throws {
    let text = Self.policy.replacing("[9007199254740995, -9007199254740995]", with: "[18446744073709551616]")
    do throws(PolicyError) {
      _ = try PolicyDocument(yaml: text, file: "policy")
      Issue.record("taken")
    } catch {
      #expect("\(error)".contains("18446744073709551616 has more than 64 bits"), "\(error)")
    }
  }
}
