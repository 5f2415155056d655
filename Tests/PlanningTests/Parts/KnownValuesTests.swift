import Domain
import Policies
import Testing

@testable import Planning

@Suite("The values that are known of a subject")
struct KnownValuesTests {
  @Test("whatever their number, they are those that were given, and each can be replaced", arguments: 0..<6)
  func values(count: Int) {
    var expected = (0..<count).map { DisplayedValue(.number(Double($0))) }
    var values = KnownValues(expected.span)
    #expect(values.count == count && values.isEmpty == (count == 0) && values.isFew == (count <= 2))
    for place in 0..<count {
      #expect(values[place] == expected[place])
      #expect(values.time(of: place) == .distantPast)
      values.set(place, to: .absent, at: Timestamp(microseconds: Int64(place)))
      expected[place] = .absent
      #expect(values.array == expected)
    }
    #expect(values.times == (0..<count).map { Timestamp(microseconds: Int64($0)) })
    #expect(values.array == KnownValues(expected.span).array && (count == 0) == (values == KnownValues()))
  }
}
