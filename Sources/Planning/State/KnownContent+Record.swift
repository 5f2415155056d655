import Domain

extension KnownContent {
  /// Writes the fields as part of a note.
  /// - Parameters:
  ///   - base: The instant to which the times are relative, in µs.
  ///   - writer: The note.
  func write(since base: Int64, to writer: inout BinaryWriter) {
    var content = self
    content.fields(since: base, &writer)
  }

  /// Reads what `write` wrote.
  /// - Throws: `BinaryError` for a note that is cut off or that no planner writes.
  init(since base: Int64, from reader: inout BinaryReader) throws(BinaryError) {
    try fields(since: base, &reader)
  }

  /// Encodes or decodes the fields.
  /// - Parameters:
  ///   - base: The instant to which the times are relative, in µs.
  ///   - coder: The coder.
  /// - Throws: The coder's error: `BinaryError` if bytes that are read are damaged.
  mutating func fields<Coder: FieldCoder>(since base: Int64, _ coder: inout Coder) throws(Coder.Failure) {
    try coder.list(elements: &sessions, blank: Session(kind: "")) { (session, coder) throws(Coder.Failure) in
      try coder.string(&session.kind, "a kind")
      try coder.instant(&session.start, before: base)
      try coder.instant(&session.end, before: base)
      try coder.instant(&session.endBefore, before: base)
      try coder.instant(&session.runStart, before: base)
      try coder.instant(&session.startableUntil, before: base)
      try coder.float(&session.startRelevance, "a relevance")
    }
    let blank = KnownField(path: "", value: .null, time: .distantPast)
    try coder.list(elements: &fields, blank: blank) { (field, coder) throws(Coder.Failure) in
      try coder.string(&field.path, "a path")
      try coder.fieldValue(&field.value)
      try coder.instant(&field.time, before: base)
    }
  }
}

/// The form of a field's value in a record: one byte, and what follows it.
private enum FieldValueForm: UInt8, CaseIterable {
  case null, no, yes, number, integer, text
}

extension FieldValue {
  fileprivate var form: FieldValueForm {
    switch self {
    case .null: .null
    case .bool(let flag): flag ? .yes : .no
    case .number, .inexact: .number
    case .integer: .integer
    case .string: .text
    }
  }
}

extension FieldCoder {
  /// Encodes or decodes a time relative to a later one, in µs.
  fileprivate mutating func instant(_ time: inout Timestamp, before base: Int64) throws(Failure) {
    var age = base &- time.microseconds
    try zigzag(&age, "a time")
    if Self.reads { time = Timestamp(microseconds: base &- age) }
  }

  /// Encodes or decodes the value of an event's field.
  /// - Throws: The coder's error: `BinaryError` for bytes that no planner writes.
  fileprivate mutating func fieldValue(_ value: inout FieldValue) throws(Failure) {
    var form = value.form
    try tag(&form, "a form of a value")
    switch form {
    case .null: if Self.reads { value = .null }
    case .no, .yes: if Self.reads { value = .bool(form == .yes) }
    case .number:
      var bits = Int64(bitPattern: (value.nearestNumber ?? 0).bitPattern)
      try int64(&bits, "a number")
      if Self.reads { value = .number(Double(bitPattern: UInt64(bitPattern: bits))) }
    case .integer, .text:
      var text = if case .string(let text) = value { Identifier(text) } else { Identifier(value.numberText ?? "") }
      try string(&text, "a text")
      if Self.reads { value = form == .text ? .string(text.text) : Self.integer(text.text) }
    }
  }

  private static func integer(_ text: String) -> FieldValue {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    return FieldValue(magnitude: UInt64(digits) ?? 0, isNegative: text.hasPrefix("-"))
  }
}
