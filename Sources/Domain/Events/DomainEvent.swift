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

  /// Returns the value at a path; nil if the event has no such scalar.
  public func value(at path: Identifier) -> FieldValue? {
    // Paths are compared faster for equality than for order, so a search from the front is faster in a short list.
    if fields.count <= Self.shortListCount { return fields.first { $0.path == path }?.value }
    var low = 0
    var high = fields.count
    while low < high {
      let middle = (low + high) / 2
      if fields[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low < fields.count && fields[low].path == path ? fields[low].value : nil
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

/// A JSON scalar. Two texts are equal when their bytes are, as for an `Identifier`.
public enum FieldValue: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
}

extension FieldValue: Equatable {
  /// Whether type and value are equal.
  public static func == (left: FieldValue, right: FieldValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): Identifier(left) == Identifier(right)
    case (.null, _), (.bool, _), (.number, _), (.string, _): false
    }
  }
}
