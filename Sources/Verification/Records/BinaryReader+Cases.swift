import Domain

extension BinaryReader {
  /// Reads a case that `place(of:)` wrote.
  /// - Throws: `BinaryError` for a place that the enumeration does not have.
  mutating func value<Value: CaseIterable>() throws(BinaryError) -> Value where Value.AllCases == [Value] {
    let start = offset
    let place: Int = try integer()
    guard Value.allCases.indices.contains(place) else { throw .corrupt(offset: start, what: "a case of \(Value.self)") }
    return Value.allCases[place]
  }
}
