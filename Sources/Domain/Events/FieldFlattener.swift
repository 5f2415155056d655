import JSON

/// Turns JSON data into the scalar fields of a `DomainEvent`. Events share the strings of their paths, which are kept here.
struct FieldFlattener {
  private var paths = StringPool()
  /// The path of the value that is being read.
  private var path: [UInt8] = []
  private var fields: [EventField] = []

  /// Returns every scalar of the data, sorted by path. An empty array counts as null. Of two scalars with the same path the first one
  /// counts.
  /// - Throws: `DomainError` if the data exceeds a bound.
  mutating func fields(of data: JSONNode) throws(DomainError) -> [EventField] {
    path.removeAll(keepingCapacity: true)
    path.append(contentsOf: "data".utf8)
    fields = []
    fields.reserveCapacity(min(data.count, DomainBounds.eventFieldsMax))
    try add(data)
    sort()
    defer { fields = [] }
    return fields
  }

  private mutating func add(_ node: JSONNode) throws(DomainError) {
    if path.count > DomainBounds.nameBytesMax {
      throw node.outOfBounds("a path of at most \(DomainBounds.nameBytesMax) bytes", found: "\(path.count)")
    }
    let length = path.count
    switch node.kind {
    case .object:
      for (key, value) in node.members {
        path.append(UInt8(ascii: "."))
        key.appendUTF8(to: &path)
        try add(value)
        path.removeLast(path.count - length)
      }
    case .array:
      var position = 0
      for value in node.elements {
        path.append(contentsOf: ".\(position)".utf8)
        try add(value)
        path.removeLast(path.count - length)
        position += 1
      }
      // It takes the place of the whole array before, too.
      if position == 0, length > "data".utf8.count { try add(.null, node) }
    case .string:
      let text = node.stringIfAny ?? ""
      try add(.string(node.utf8Count <= DomainBounds.eventTextBytesMax ? text : Self.cut(text)), node)
    case .number: try add(FieldValue(node.literalIfAny ?? .integer(0)), node)
    case .bool: try add(.bool(node.boolIfAny ?? false), node)
    case .null: try add(.null, node)
    }
  }

  /// Returns as many whole characters (Unicode scalars) of a text as the bound allows.
  private static func cut(_ text: String) -> String {
    let utf8 = text.utf8
    var end = utf8.index(utf8.startIndex, offsetBy: DomainBounds.eventTextBytesMax)
    while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return String(text.unicodeScalars[..<end])
  }

  private mutating func add(_ value: FieldValue, _ node: JSONNode) throws(DomainError) {
    if fields.count == DomainBounds.eventFieldsMax {
      throw node.outOfBounds("at most \(DomainBounds.eventFieldsMax) scalars in the data", found: "one more")
    }
    fields.append(EventField(path: paths.string(path), value: value))
  }

  private mutating func sort() {
    if fields.count <= FieldFlattener.insertionSortMax {
      for at in fields.indices.dropFirst() {
        var hole = at
        while hole > 0, fields[hole].path < fields[hole - 1].path {
          fields.swapAt(hole, hole - 1)
          hole -= 1
        }
      }
    } else {
      fields.sort { $0.path < $1.path }
    }
    guard fields.indices.dropFirst().contains(where: { fields[$0].path == fields[$0 - 1].path }) else { return }
    var unique: [EventField] = []
    for field in fields where unique.last?.path != field.path { unique.append(field) }
    fields = unique
  }

  /// The number of fields up to which sorting by insertion is faster. Both sorts are stable, so the first of two equal paths
  /// stays first.
  private static let insertionSortMax = 24
}

extension FieldValue {
  /// Creates the value of a number in JSON.
  fileprivate init(_ literal: JSONNumber) {
    switch literal {
    case .integer(let value): self.init(magnitude: value.magnitude, isNegative: value < 0)
    case .unsigned(let value): self.init(magnitude: value, isNegative: false)
    case .largeInteger(let value): self = .inexact(value)
    case .decimal(let value): self = .number(value)
    }
  }
}
