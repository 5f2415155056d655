extension DomainEvent: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: DomainEvent {
    DomainEvent(id: "", source: "", type: "", subject: "", time: Timestamp(microseconds: 0))
  }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&id, "an event id")
    try coder.recurring(&source, "an event source")
    try coder.recurring(&type, "an event type")
    try coder.string(&subject, "an event subject")
    try coder.timestamp(&time, "an event time")
    try coder.string(&traceparent, "a traceparent")
    try coder.list(&fields)
  }
}

extension EventField: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: EventField { EventField(path: "", value: .null) }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.recurring(&path, "a field path")
    try value.fields(&coder)
  }
}

extension FieldValue: FieldCoded {
  private enum Tag: UInt8, CaseIterable {
    case null, isFalse, isTrue, number, string, positiveInteger, negativeInteger, inexact
  }

  private var tag: Tag {
    switch self {
    case .null: .null
    case .bool(false): .isFalse
    case .bool(true): .isTrue
    case .number: .number
    case .integer(let integer): integer.isNegative ? .negativeInteger : .positiveInteger
    case .inexact: .inexact
    case .string: .string
    }
  }

  /// An empty value that a decoder fills in.
  public static var blank: FieldValue { .null }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var tag = tag
    try coder.tag(&tag, "a field tag")
    switch tag {
    case .null: self = .null
    case .isFalse: self = .bool(false)
    case .isTrue: self = .bool(true)
    case .number:
      var number = if case .number(let number) = self { number } else { 0.0 }
      try coder.double(&number, "a field value")
      self = .number(number)
    case .positiveInteger, .negativeInteger:
      var magnitude = if case .integer(let integer) = self { integer.magnitude } else { UInt64(0) }
      try coder.varint(&magnitude, "a field value")
      self = FieldValue(magnitude: magnitude, isNegative: tag == .negativeInteger)
    case .inexact:
      var number = if case .inexact(let number) = self { number } else { 0.0 }
      try coder.double(&number, "a field value")
      self = .inexact(number)
    case .string:
      var text = if case .string(let text) = self { text } else { "" }
      try coder.string(&text, "a field value")
      if Coder.reads { self = .string(text) }
    }
  }
}
