import JSON
import Testing

@testable import Domain

@Suite("Integers of 64 bits")
struct WideIntegerTests {
  private static func fields(_ data: String) throws -> [EventField] {
    let json = #"{"specversion":"1.0","id":"1","source":"/s","type":"t","subject":"x","data":\#(data)}"#
    return try CloudEventDecoder().decode(
      CloudEventRecord(value: Array(json.utf8), timestamp: Timestamp(microseconds: 0))
    ).fields
  }

  private static let literals = [
    "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "-9223372036854775808", "0", "-7",
  ]

  @Test("an integer keeps its digits as text, in a log record, and as an event in a file", arguments: literals)
  func digits(literal: String) throws {
    let fields = try Self.fields(literal)
    #expect(fields.first?.value.numberText == literal)
    let event = DomainEvent(
      id: "1", source: "/s", type: "t", subject: "x", time: Timestamp(microseconds: 0), fields: fields)
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .event(event)).encode(into: &bytes)
    #expect(try LogRecord(bytes: bytes).content == .event(event))
    var writer = JSONWriter()
    event.encode(to: &writer)
    #expect(writer.text.contains(#""data":\#(literal)"#))
  }

  @Test("neighbours beyond 2^53 differ, and equal numbers are equal however they are written")
  func equality() throws {
    func value(_ literal: String) throws -> FieldValue { try #require(try Self.fields(literal).first).value }
    #expect(try value("9007199254740993") != value("9007199254740992"))
    #expect(try value("9007199254740993") != value("9007199254740993.0"))
    #expect(try value("-9007199254740993") != value("9007199254740993"))
    #expect(try value("9007199254740992") == value("9007199254740992.0"))
    #expect(try value("9300000000000000000") == value("9.3e18"))
    #expect(try value("-9223372036854775808") == value("-9.223372036854775808e18"))
    #expect(try value("9007199254740995").distance(to: value("9007199254740992")) == 3)
    #expect(try value("9007199254740993").distance(to: value("-9007199254740993")) == 18_014_398_509_481_984)
    #expect(try value("18446744073709551615").distance(to: value("5")) == 18_446_744_073_709_551_616)
    #expect(try value("5").distance(to: .string("5")) == nil)
  }

  @Test(
    "an integer of more than 64 bits is inexact, also after a log record and a file",
    arguments: [
      "18446744073709551616", "-9223372036854775809", "1000000000000000000000", "123456789012345678901234567890",
      "99999999999999999999999999999999999999999",
    ])
  func inexact(literal: String) throws {
    let fields = try Self.fields(literal)
    #expect(fields.first?.value == Double(literal).map { .inexact($0) })
    let event = DomainEvent(
      id: "1", source: "/s", type: "t", subject: "x", time: Timestamp(microseconds: 0), fields: fields)
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .event(event)).encode(into: &bytes)
    #expect(try LogRecord(bytes: bytes).content == .event(event))
    var writer = JSONWriter()
    event.encode(to: &writer)
    let again = try CloudEventDecoder().decode(
      CloudEventRecord(value: Array(writer.text.utf8), timestamp: Timestamp(microseconds: 0)))
    #expect(again == event)
  }

  @Test("numbers with a point or an exponent are as they were", arguments: ["1e21", "19.99", "1.5e300", "3.0"])
  func decimals(literal: String) throws {
    #expect(try Self.fields(literal).first?.value == Double(literal).map { .number($0) })
  }

  @Test("a log record with an integer that needs no 64 bits is read as a plain number")
  func small() throws {
    var writer = BinaryWriter()
    writer.uint8(5)
    writer.varint(7)
    var reader = BinaryReader(writer.bytes)
    var value = FieldValue.blank
    try value.fields(&reader)
    guard case .number(7) = value else {
      Issue.record("\(value)")
      return
    }
  }
}
