/// One accepted CloudEvents 1.0 record: something changed about a subject. Its JSON data is flattened to scalar fields, so that
/// planners never parse JSON.
public struct DomainEvent: Equatable, Sendable {
  /// The CloudEvents `id`, unique within `source`.
  public var id: Identifier
  /// The CloudEvents `source`: the publisher.
  public var source: Identifier
  /// The CloudEvents `type`, by which rules match.
  public var type: Identifier
  /// The CloudEvents `subject`, which is the first interest key of the event.
  public var subject: Identifier
  /// The CloudEvents `time` at which the change happened. Intake fills in the record's timestamp if the publisher gave none.
  public var time: Timestamp
  /// The W3C trace context, which decisions and commands carry on.
  public var traceparent: String?
  /// The scalars of `data`, sorted by path: `data.delayMinutes`, `data.home.passes`. Arrays are flattened by index, as in
  /// `data.legs.0.gate`. There are at most `DomainBounds.eventFieldsMax`.
  public var fields: [EventField]

  /// Creates an event. Nothing is checked; the fields must be sorted by path.
  public init(
    id: Identifier, source: Identifier, type: Identifier, subject: Identifier, time: Timestamp,
    traceparent: String? = nil,
    fields: [EventField] = []
  ) {
    self.id = id
    self.source = source
    self.type = type
    self.subject = subject
    self.time = time
    self.traceparent = traceparent
    self.fields = fields
  }

  /// Whether a field is an integer of more than 64 bits.
  public var hasInexactNumber: Bool {
    for place in fields.indices { if case .inexact = fields[place].value { return true } }
    return false
  }

  /// Returns the value at a path; nil if the event has no such scalar.
  public func value(at path: Identifier) -> FieldValue? { place(of: path).map { fields[$0].value } }

  /// Returns the absolute difference of the numbers at two paths; nil unless there is a number at the first one.
  /// - Parameters:
  ///   - path: The first path.
  ///   - other: The second path. No number there counts as 0.
  public func change(at path: Identifier, from other: Identifier) -> Double? {
    guard let place = place(of: path) else { return nil }
    let otherPlace = self.place(of: other)
    // Nearly all numbers are doubles, and one that is read in place need not be copied.
    if case .number(let number) = fields[place].value {
      guard let otherPlace else { return abs(number) }
      if case .number(let from) = fields[otherPlace].value { return abs(number - from) }
    }
    let value = fields[place].value
    return otherPlace.flatMap { value.distance(to: fields[$0].value) } ?? value.distance(to: .number(0))
  }

  private func place(of path: Identifier) -> Int? {
    // Paths are compared faster for equality than for order, so a search from the front is faster in a short list.
    if fields.count <= Self.shortListCount {
      for place in fields.indices where fields[place].path == path { return place }
      return nil
    }
    var low = 0
    var high = fields.count
    while low < high {
      let middle = (low + high) / 2
      if fields[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low < fields.count && fields[low].path == path ? low : nil
  }

  /// The number of fields up to which a look-up searches from the front. It affects only the speed.
  private static let shortListCount = 8
}

/// One scalar of an event's data.
public struct EventField: Equatable, Sendable {
  /// The path, such as `data.status`.
  public var path: Identifier
  /// The value.
  public var value: FieldValue

  /// Creates a field.
  public init(path: Identifier, value: FieldValue) {
    self.path = path
    self.value = value
  }
}

/// A JSON scalar. Two texts are equal when their bytes are, as for an `Identifier`. Two numbers are equal when their values are.
public enum FieldValue: Sendable {
  case null
  case bool(Bool)
  /// A number that is a double, or that its document writes with a point or an exponent.
  case number(Double)
  /// An integer of 64 bits, which not every double can hold.
  case integer(WideInteger)
  /// The double nearest to an integer of more than 64 bits. A planner refuses events whose rules read such a number.
  case inexact(Double)
  case string(String)
}

extension FieldValue {
  /// Creates the value of an integer.
  public init(magnitude: UInt64, isNegative: Bool) {
    if let wide = WideInteger(magnitude: magnitude, isNegative: isNegative) {
      self = .integer(wide)
    } else {
      self = .number(isNegative ? -Double(magnitude) : Double(magnitude))
    }
  }

  /// The number as the nearest double; nil for a value that is no number.
  public var nearestNumber: Double? {
    switch self {
    case .number(let number), .inexact(let number): number
    case .integer(let integer): integer.nearest
    case .null, .bool, .string: nil
    }
  }

  /// Returns the absolute difference of two numbers; nil unless both values are numbers. The difference of two integers is that of
  /// the exact ones.
  public func distance(to other: FieldValue) -> Double? {
    if case .integer(let one) = self, case .integer(let two) = other { return one.distance(to: two) }
    guard let one = nearestNumber, let two = other.nearestNumber else { return nil }
    return abs(one - two)
  }

  /// The digits of a number as text: all digits of an integer, without `.0`; nil for a value that is no number.
  public var numberText: String? {
    switch self {
    case .number(let number), .inexact(let number):
      if let whole = Int64(exactly: number) { return String(whole) }
      return String(number)
    case .integer(let integer): return integer.description
    case .null, .bool, .string: return nil
    }
  }
}

extension FieldValue: Equatable {
  /// Whether type and value are equal.
  public static func == (left: FieldValue, right: FieldValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
      integer.equals(number)
    case (.inexact(let left), .inexact(let right)): left == right
    case (.string(let left), .string(let right)): Identifier(left) == Identifier(right)
    case (.null, _), (.bool, _), (.number, _), (.integer, _), (.inexact, _), (.string, _): false
    }
  }
}
