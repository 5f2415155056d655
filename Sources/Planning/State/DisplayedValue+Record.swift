import Domain
import Policies

extension DisplayedValue {
  /// The form of a value in a record: one byte, and what follows it.
  fileprivate enum RecordForm: UInt8, CaseIterable {
    /// Nothing: one byte.
    case absent
    /// A number, in eight bytes.
    case number
    /// A hash, in 16 bytes.
    case hash
  }

  fileprivate var form: RecordForm {
    if high != 0 { return .hash }
    return self == .absent ? .absent : .number
  }
}

extension FieldCoder {
  /// Encodes or decodes what a screen shows of a field.
  /// - Throws: The coder's error: `BinaryError` for bytes that no planner writes.
  mutating func displayedValue(_ value: inout DisplayedValue) throws(Failure) {
    var (form, low, high) = (value.form, Int64(bitPattern: value.low), Int64(bitPattern: value.high))
    try tag(&form, "a form of a value")
    if Self.reads { (low, high) = (Int64(bitPattern: DisplayedValue.absent.low), 0) }
    if form != .absent { try int64(&low, "a value") }
    if form == .hash { try int64(&high, "a value") }
    if Self.reads { value = DisplayedValue(low: UInt64(bitPattern: low), high: UInt64(bitPattern: high)) }
  }
}

extension BinaryReader {
  /// Reads what a screen shows of a field.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func displayedValue() throws(BinaryError) -> DisplayedValue {
    var value = DisplayedValue.absent
    try displayedValue(&value)
    return value
  }
}

extension BinaryWriter {
  /// Writes what a screen shows of a field.
  mutating func write(_ value: DisplayedValue) {
    var value = value
    displayedValue(&value)
  }
}
