import Domain

extension BinaryWriter {
  /// Writes the place of a case in its enumeration. Only files that the same process reads again may hold it: a case may
  /// have another place in another version of the program.
  mutating func place<Value: CaseIterable & Equatable>(of value: Value) where Value.AllCases == [Value] {
    guard let place = Value.allCases.firstIndex(of: value) else {
      preconditionFailure("\(value) is not among all cases of its type")
    }
    count(place)
  }
}
