package import Domain

/// A field of events, and the places in an event that say something about it: an object or an array takes the place of what was there, and a
/// null clears what is below it, as in a JSON Merge Patch (RFC 7396).
package struct PatchedField: Equatable, Sendable {
  /// The path.
  package let path: Identifier
  /// The paths above it. An event with a value of one of them says that there is nothing at this one.
  private let above: [Identifier]
  /// The beginning of all paths below it. An event with one of those says that there is no scalar at this path.
  private let below: String
  /// The beginnings of all paths in the arrays that it is in. An event with one of those brings a whole array.
  private let arrays: [String]

  /// Creates the field at a path.
  package init(_ path: Identifier) {
    let parts = path.text.split(separator: ".", omittingEmptySubsequences: false)
    let beginnings = parts.indices.dropFirst(2).map { parts[..<$0].joined(separator: ".") }
    self.path = path
    above = beginnings.map { Identifier($0) }
    below = path.text + "."
    arrays = parts.indices.dropFirst(2).filter { Self.isIndex(parts[$0]) }.map {
      parts[..<$0].joined(separator: ".") + "."
    }
  }

  /// Whether it is in an object or an array within the data.
  package var isNested: Bool { !above.isEmpty }

  /// Returns what an event says about the field: null if it says that there is nothing, nil if it says nothing about it.
  package func value(in event: DomainEvent) -> FieldValue? {
    switch path {
    case "subject": return .string(event.subject.text)
    case "type": return .string(event.type.text)
    case "source": return .string(event.source.text)
    default: break
    }
    // A number that is not exact says nothing. Where a rule reads it, the whole event is refused.
    if let value = event.value(at: path) {
      if case .inexact = value { return nil }
      return value
    }
    return isCleared(by: event) ? .null : nil
  }

  /// Returns whether an event that does not carry the field says that there is nothing.
  package func isCleared(by event: DomainEvent) -> Bool {
    for above in above where event.value(at: above) != nil { return true }
    return event.fields.contains { field in
      field.path.text.hasPrefix(below)
        || arrays.contains { array in
          field.path.text.hasPrefix(array)
            && Self.isIndex(field.path.text.dropFirst(array.count).prefix { $0 != "." })
        }
    }
  }

  private static func isIndex(_ part: Substring) -> Bool {
    !part.isEmpty && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
