extension DomainEvent {
  func encode(into writer: inout BinaryWriter) {
    writer.string(id)
    writer.string(source)
    writer.string(type)
    writer.string(subject)
    writer.timestamp(time)
    writer.optionalString(traceparent)
    writer.count(fields.count)
    for field in fields {
      writer.string(field.path)
      switch field.value {
      case .null: writer.uint8(0)
      case .bool(false): writer.uint8(1)
      case .bool(true): writer.uint8(2)
      case .number(let number):
        writer.uint8(3)
        writer.double(number)
      case .string(let text):
        writer.uint8(4)
        writer.string(text)
      }
    }
  }

  init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init(
      id: try reader.string("an event id"), source: try reader.string("an event source"),
      type: try reader.string("an event type"), subject: try reader.string("an event subject"),
      time: try reader.timestamp("an event time"), traceparent: try reader.optionalString("a traceparent"))
    let count = try reader.count("a count of fields")
    fields.reserveCapacity(min(count, DomainBounds.eventFieldsMax))
    for _ in 0..<count {
      fields.append(EventField(path: try reader.string("a field path"), value: try FieldValue(from: &reader)))
    }
  }
}

extension FieldValue {
  fileprivate init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try reader.uint8("a field tag") {
    case 0: self = .null
    case 1: self = .bool(false)
    case 2: self = .bool(true)
    case 3: self = .number(try reader.double("a field value"))
    case 4: self = .string(try reader.string("a field value"))
    default: throw .corrupt(offset: reader.offset - 1, what: "a field tag from 0 to 4")
    }
  }
}
