/// One direction of the binary codec of internal records.
///
/// A type lists its fields once, in `FieldCoded.fields(_:)`. `BinaryWriter` then writes them and `BinaryReader` reads them, in
/// the same order and form, so that the two directions cannot differ. The compiler makes a copy of the list for each
/// direction, so that neither direction runs code of the other.
///
/// Every method takes the value of a field, which a writer only looks at and a reader replaces, and the name of the field,
/// which messages about damaged bytes use.
public protocol FieldCoder: NumberCoder {
  /// Whether this coder reads, and so replaces the values of fields. A constant, so that the compiler leaves out the
  /// code of the other direction.
  static var reads: Bool { get }

  /// One byte, 0 or 1.
  mutating func bool(_ value: inout Bool, _ what: StaticString) throws(Failure)
  /// A varint of 1 to 10 bytes.
  mutating func varint(_ value: inout UInt64, _ what: StaticString) throws(Failure)
  /// A signed varint of 32 bits.
  mutating func zigzag(_ value: inout Int32, _ what: StaticString) throws(Failure)
  /// A signed integer of eight bytes.
  mutating func int64(_ value: inout Int64, _ what: StaticString) throws(Failure)
  /// A floating-point number, as the eight bytes of its bit pattern.
  mutating func double(_ value: inout Double, _ what: StaticString) throws(Failure)
  /// A text: its length in bytes, then its UTF-8.
  mutating func string(_ value: inout String, _ what: StaticString) throws(Failure)
  /// A text that may be nil: one byte, 0 for nil or 1, and after a 1 the text.
  mutating func string(_ value: inout String?, _ what: StaticString) throws(Failure)
  /// A text that probably recurs from record to record, in the form of any other text.
  mutating func recurring(_ value: inout Identifier, _ what: StaticString) throws(Failure)
  /// Bytes: their number, then the bytes.
  mutating func blob(_ value: inout [UInt8], _ what: StaticString) throws(Failure)
  /// An instant, as eight bytes with the microseconds since 1970.
  mutating func timestamp(_ value: inout Timestamp, _ what: StaticString) throws(Failure)
  /// A count of elements that follow. Each of them takes at least one byte, so a reader refuses a count larger than the
  /// number of bytes that are left.
  mutating func count(_ value: inout Int, _ what: StaticString) throws(Failure)
  /// A case of an enumeration, as its text.
  mutating func choice<Value: RawRepresentable>(
    _ value: inout Value, _ what: StaticString
  ) throws(Failure) where Value.RawValue == String
  /// A varint of 1 to 9 bytes: a number that is not negative.
  mutating func varint(_ value: inout Int, _ what: StaticString) throws(Failure)
  /// A case of an enumeration with stored numbers, as its number in one byte.
  mutating func code<Value: NumberedCode>(_ value: inout Value, _ what: StaticString) throws(Failure)
}

/// A value that lists its fields for a `FieldCoder`.
public protocol FieldCoded {
  /// An empty value that a decoder fills in.
  static var blank: Self { get }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: the coder's error: `BinaryError` if bytes that are read are damaged.
  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

extension FieldCoder {
  /// A text that probably recurs, which only a reader treats in a special way.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func recurring(_ value: inout Identifier, _ what: StaticString) throws(Failure) {
    try string(&value, what)
  }

  /// A text: its length in bytes, then its UTF-8.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func string(_ value: inout Identifier, _ what: StaticString) throws(Failure) {
    var text = value.text
    try string(&text, what)
    if Self.reads { value = Identifier(text) }
  }

  /// A text that may be nil: one byte, 0 for nil or 1, and after a 1 the text.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func string(_ value: inout Identifier?, _ what: StaticString) throws(Failure) {
    var text = value.text
    try string(&text, what)
    if Self.reads { value = text.map { Identifier($0) } }
  }

  /// A list of values: their count, then the fields of each.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func list<Element: FieldCoded>(_ elements: inout [Element]) throws(Failure) {
    try list(elements: &elements, blank: .blank) { (element, coder) throws(Failure) in try element.fields(&coder) }
  }

  /// A list of texts: their count, then each text.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func strings(_ texts: inout [Identifier], _ what: StaticString) throws(Failure) {
    try list(elements: &texts, blank: "") { (text, coder) throws(Failure) in try coder.string(&text, what) }
  }

  /// A list of elements: their count, then each element.
  /// - Parameters:
  ///   - blank: an empty element that a decoder fills in.
  ///   - fields: encodes or decodes the fields of one element.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func list<Element>(
    elements: inout [Element], blank: Element, _ fields: (inout Element, inout Self) throws(Failure) -> Void
  ) throws(Failure) {
    var count = elements.count
    try self.count(&count, "a count of elements")
    if Self.reads {
      elements.removeAll()
      // A count from damaged bytes may be large, so the reserved capacity is capped at a usual number of elements.
      elements.reserveCapacity(min(count, 256))
      for _ in 0..<count {
        var element = blank
        try fields(&element, &self)
        elements.append(element)
      }
    } else {
      for element in elements {
        var element = element
        try fields(&element, &self)
      }
    }
  }

  /// A signed varint.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func zigzag(_ value: inout Int, _ what: StaticString) throws(Failure) {
    var wide = Int64(value)
    try zigzag(&wide, what)
    if Self.reads { value = Int(wide) }
  }

  /// A signed integer that may be nil: one byte, 0 for nil or 1, and after a 1 a signed varint.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func zigzag(_ value: inout Int64?, _ what: StaticString) throws(Failure) {
    var isThere = value != nil
    try bool(&isThere, what)
    guard isThere else {
      if Self.reads { value = nil }
      return
    }
    var present = value ?? 0
    try zigzag(&present, what)
    if Self.reads { value = present }
  }

  /// A value that may be nil: one byte, 0 for nil or 1, and after a 1 the fields of the value.
  /// - Throws: the coder's error.
  @inlinable
  public mutating func optional<Value: FieldCoded>(_ value: inout Value?, _ what: StaticString) throws(Failure) {
    var isThere = value != nil
    try bool(&isThere, what)
    guard isThere else {
      if Self.reads { value = nil }
      return
    }
    var present = value ?? .blank
    try present.fields(&self)
    if Self.reads { value = present }
  }
}

// MARK: Both directions

extension BinaryWriter: FieldCoder {
  @inlinable public static var reads: Bool { false }

  public mutating func uint8(_ value: inout UInt8, _ what: StaticString) { uint8(value) }
  public mutating func bool(_ value: inout Bool, _ what: StaticString) { bool(value) }
  public mutating func varint(_ value: inout UInt64, _ what: StaticString) { varint(value) }
  public mutating func varint(_ value: inout UInt16, _ what: StaticString) { varint(UInt64(value)) }
  public mutating func varint(_ value: inout UInt32, _ what: StaticString) { varint(UInt64(value)) }
  public mutating func zigzag(_ value: inout Int64, _ what: StaticString) { zigzag(value) }
  public mutating func zigzag(_ value: inout Int32, _ what: StaticString) { zigzag(Int64(value)) }
  public mutating func int64(_ value: inout Int64, _ what: StaticString) { int64(value) }
  public mutating func double(_ value: inout Double, _ what: StaticString) { double(value) }
  public mutating func float(_ value: inout Float, _ what: StaticString) { float(value) }
  public mutating func string(_ value: inout String, _ what: StaticString) { string(value) }
  public mutating func string(_ value: inout String?, _ what: StaticString) { optionalString(value) }
  public mutating func blob(_ value: inout [UInt8], _ what: StaticString) { blob(value) }
  public mutating func timestamp(_ value: inout Timestamp, _ what: StaticString) { timestamp(value) }
  public mutating func count(_ value: inout Int, _ what: StaticString) { count(value) }
  public mutating func varint(_ value: inout Int, _ what: StaticString) { count(value) }

  @inlinable
  public mutating func code<Value: NumberedCode>(_ value: inout Value, _ what: StaticString) { uint8(value.number) }

  @inlinable
  public mutating func choice<Value: RawRepresentable>(
    _ value: inout Value, _ what: StaticString
  ) where Value.RawValue == String { string(value.rawValue) }

  @inlinable
  public mutating func tag<Tag: RawRepresentable & CaseIterable>(
    _ tag: inout Tag, _ what: StaticString
  ) where Tag.RawValue == UInt8 { uint8(tag.rawValue) }
}

extension BinaryReader: FieldCoder {
  @inlinable public static var reads: Bool { true }

  public mutating func uint8(_ value: inout UInt8, _ what: StaticString) throws(BinaryError) { value = try uint8(what) }
  public mutating func bool(_ value: inout Bool, _ what: StaticString) throws(BinaryError) { value = try bool(what) }
  public mutating func varint(_ value: inout UInt64, _ what: StaticString) throws(BinaryError) {
    value = try varint(what)
  }
  public mutating func varint(_ value: inout UInt16, _ what: StaticString) throws(BinaryError) {
    value = try integer(what)
  }
  public mutating func varint(_ value: inout UInt32, _ what: StaticString) throws(BinaryError) {
    value = try integer(what)
  }
  public mutating func zigzag(_ value: inout Int64, _ what: StaticString) throws(BinaryError) {
    value = try zigzag(what)
  }
  public mutating func zigzag(_ value: inout Int32, _ what: StaticString) throws(BinaryError) {
    let start = offset
    guard let narrow = Int32(exactly: try zigzag(what)) else {
      throw .corrupt(offset: start, what: "\(what) of 32 bits")
    }
    value = narrow
  }
  public mutating func int64(_ value: inout Int64, _ what: StaticString) throws(BinaryError) { value = try int64(what) }
  public mutating func double(_ value: inout Double, _ what: StaticString) throws(BinaryError) {
    value = try double(what)
  }
  public mutating func float(_ value: inout Float, _ what: StaticString) throws(BinaryError) { value = try float(what) }
  public mutating func string(_ value: inout String, _ what: StaticString) throws(BinaryError) {
    value = try string(what)
  }
  public mutating func string(_ value: inout String?, _ what: StaticString) throws(BinaryError) {
    value = try optionalString(what)
  }
  public mutating func recurring(_ value: inout Identifier, _ what: StaticString) throws(BinaryError) {
    value = try recurringText(what)
  }
  public mutating func blob(_ value: inout [UInt8], _ what: StaticString) throws(BinaryError) { value = try blob(what) }
  public mutating func timestamp(_ value: inout Timestamp, _ what: StaticString) throws(BinaryError) {
    value = try timestamp(what)
  }
  public mutating func count(_ value: inout Int, _ what: StaticString) throws(BinaryError) { value = try count(what) }
  public mutating func varint(_ value: inout Int, _ what: StaticString) throws(BinaryError) {
    value = try integer(what)
  }

  @inlinable
  public mutating func code<Value: NumberedCode>(_ value: inout Value, _ what: StaticString) throws(BinaryError) {
    let place = offset
    guard let known = Value(number: try uint8(what)) else { throw .corrupt(offset: place, what: "\(what)") }
    value = known
  }

  @inlinable
  public mutating func choice<Value: RawRepresentable>(
    _ value: inout Value, _ what: StaticString
  ) throws(BinaryError) where Value.RawValue == String { value = try choice(what) }

  @inlinable
  public mutating func tag<Tag: RawRepresentable & CaseIterable>(
    _ tag: inout Tag, _ what: StaticString
  ) throws(BinaryError) where Tag.RawValue == UInt8 {
    let place = offset
    guard let known = Tag(rawValue: try uint8(what)) else {
      let tags = Tag.allCases.map(\.rawValue)
      throw .corrupt(offset: place, what: "\(what) from \(tags.min() ?? 0) to \(tags.max() ?? 0)")
    }
    tag = known
  }
}
