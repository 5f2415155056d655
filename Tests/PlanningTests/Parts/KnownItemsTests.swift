import Domain
import Policies
import Testing

@testable import Planning

@Suite("The items that are known of a subject")
struct KnownItemsTests {
  private static func value(_ number: Int) -> KnownItem {
    KnownItem(value: DisplayedValue(.number(Double(number))), time: Timestamp(microseconds: Int64(number)))
  }

  private static func event(_ number: Int) -> KnownItem {
    let hash = KeyedHash(low: UInt64(number), high: 7)
    return KnownItem(event: hash, time: Timestamp(microseconds: Int64(number)))
  }

  @Test("values are those that were given, whatever their number, and each can be replaced", arguments: 0..<6)
  func values(count: Int) {
    var expected = (0..<count).map(Self.value)
    var items = KnownItems(values: expected)
    #expect(items.count == count && items.isEmpty == (count == 0) && items.holdsValues == (count > 0))
    #expect(items.valueCount == count && items.eventCount == 0)
    for place in 0..<count {
      #expect(items[place] == expected[place])
      expected[place] = Self.value(100 + place)
      items[place] = expected[place]
      #expect(items.array == expected)
    }
    #expect(items == KnownItems(values: expected) && (count == 0) == (items == KnownItems()))
    #expect(count == 0 || items != KnownItems(events: expected))
    #expect((items.arrayBytes > 0) == (count > 2))
  }

  @Test("events are added at the end, and those that stay keep their order when one is removed")
  func events() {
    var (items, expected) = (KnownItems(), [KnownItem]())
    for number in 0..<20 {
      items.append(Self.event(number))
      expected.append(Self.event(number))
      #expect(items.array == expected && items.eventCount == number + 1 && items.valueCount == 0)
      #expect(items[number].event == KeyedHash(low: UInt64(number), high: 7))
      #expect(items == KnownItems(events: expected))
    }
    for place in [0, 7, 17] {
      items.remove(at: place)
      expected.remove(at: place)
      #expect(items.array == expected && items.count == expected.count)
    }
  }
}
